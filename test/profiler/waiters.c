// SPDX-License-Identifier: MIT
// A thread that has to wait counts those that wait already: five that come one after the other find
// none to four of them.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["contended"] == 5' \
// RUN:   'lock("mutex")["waiters"] == {"mean": 2, "max": 4}' \
// RUN:   'lock("timed")["waiters"] == {"mean": 0, "max": 0} and lock("timed")["timeouts"] == 7' \
// RUN:   'abs(lock("mutex")["arrivals_per_s"] * profile["duration_ns"] / 1e9 - 6) < 0.01' \
// RUN:   'lock("alone")["waiters"] == {"mean": 0, "max": 0}'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: waiters at most 4
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

static atomic_int about_to_wait;

static void *wait_for_it(void *argument) {
  atomic_store(&about_to_wait, gettid());
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}

/* Once it has said that it is about to lock, the mutex is all that it can sleep on. */
static void until_it_waits(void) {
  char path[64], state = 0;
  while (!atomic_load(&about_to_wait))
    usleep(1000);
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_exchange(&about_to_wait, 0));
  while (state != 'S') {
    FILE *stat = fopen(path, "r");
    if (fscanf(stat, "%*d %*s %c", &state) != 1)
      state = 0;
    fclose(stat);
    usleep(1000);
  }
}

int main(void) {
  pthread_t threads[5];
  struct timespec past = {0, 0};
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 5; i++) {
    pthread_create(&threads[i], NULL, wait_for_it, NULL);
    until_it_waits();
  }
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 5; i++)
    pthread_join(threads[i], NULL);
  pthread_mutex_lock(&timed);
  for (int i = 0; i < 7; i++)
    pthread_mutex_timedlock(&timed, &past);
  pthread_mutex_unlock(&timed);
  pthread_mutex_lock(&alone);
  pthread_mutex_unlock(&alone);
  return 0;
}
