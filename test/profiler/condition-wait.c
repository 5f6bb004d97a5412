// SPDX-License-Identifier: MIT
// Waiting for a condition is neither holding the mutex nor waiting for it, with any of the clocks,
// and not time in a critical section.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 1' \
// RUN:   'lock("mutex")["condition_waits"] == 3 and lock("mutex")["hold"]["count"] == 4' \
// RUN:   'lock("mutex")["hold"]["total_ns"] < 30 * MS' \
// RUN:   'lock("mutex")["wait"]["count"] == 0 and lock("mutex")["contended"] == 0' \
// RUN:   'profile["section_ns"] < 30 * MS and profile["duration_ns"] >= 90 * MS'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static struct timespec later(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 30 * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

static void *signal_it(void *argument) {
  usleep(40 * 1000);
  pthread_cond_signal(&condition);
  return argument;
}

int main(void) {
  pthread_t thread;
  struct timespec until;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, signal_it, NULL);
  pthread_cond_wait(&condition, &mutex);
  until = later(CLOCK_REALTIME);
  pthread_cond_timedwait(&condition, &mutex, &until);
  until = later(CLOCK_MONOTONIC);
  pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
