// SPDX-License-Identifier: MIT
// A lock that is only waited for until a time may not be taken, on either clock: it holds.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold try realtime (timed-lock-holds.c:[[#AT:]])
// CHECK-NEXT: timed-lock-holds.c:[[#AT]]: the lock may not be taken [try]
// CHECK:      hold try monotonic (timed-lock-holds.c:[[#AT:]])
// CHECK-NEXT: timed-lock-holds.c:[[#AT]]: the lock may not be taken [try]
// CHECK:      2 lock sites: 0 delegate, 2 hold, 0 keep, 0 uncovered
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int realtime(const struct timespec *until) {
  if (pthread_mutex_timedlock(&lock, until) != 0)
    return 0;
  total++;
  pthread_mutex_unlock(&lock);
  return 1;
}

static int monotonic(const struct timespec *until) {
  int error = pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, until);
  if (error)
    return 0;
  total++;
  pthread_mutex_unlock(&lock);
  return 1;
}

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec += 60;
  printf("%d", realtime(&now));
  clock_gettime(CLOCK_MONOTONIC, &now);
  now.tv_sec += 60;
  printf(" %d", monotonic(&now));
  printf(" %d\n", total);
  return 0;
}
