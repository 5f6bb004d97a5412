// SPDX-License-Identifier: MIT
// A thread that finds the mutex taken waits until its holder lets go; that is the wait time, and
// a trylock and a timed lock that fail are counted apart.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 2' \
// RUN:   'lock("mutex")["contended"] == 1 and lock("mutex")["handovers"] == 1' \
// RUN:   'lock("mutex")["wait"]["count"] == 1' \
// RUN:   'lock("mutex")["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'lock("mutex")["wait"]["p50_ns"] >= 40 * MS * 7 // 8' \
// RUN:   'lock("mutex")["hold"]["max_ns"] >= 90 * MS' \
// RUN:   'lock("tried")["trylock_failures"] == 13' \
// RUN:   'lock("tried")["acquisitions"] == 1 and lock("tried")["contended"] == 0' \
// RUN:   'lock("timed")["timeouts"] == 2 and lock("timed")["acquisitions"] == 1' \
// RUN:   'lock("timed")["wait"]["total_ns"] >= 40 * MS and lock("timed")["contended"] == 0'
#define _GNU_SOURCE
#include "Inputs/until-it-waits.h"
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
static atomic_int locked;

static struct timespec soon(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 20 * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

static void *wait_for_it(void *argument) {
  struct timespec until;
  while (!atomic_load(&locked))
    ;
  for (int i = 0; i < 13; i++)
    pthread_mutex_trylock(&tried);
  until = soon(CLOCK_REALTIME);
  pthread_mutex_timedlock(&timed, &until);
  until = soon(CLOCK_MONOTONIC);
  pthread_mutex_clocklock(&timed, CLOCK_MONOTONIC, &until);
  about_to_wait();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&tried);
  pthread_mutex_lock(&timed);
  pthread_create(&thread, NULL, wait_for_it, NULL);
  atomic_store(&locked, 1);
  until_it_waits(thread);
  pthread_mutex_unlock(&timed);
  pthread_mutex_unlock(&tried);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
