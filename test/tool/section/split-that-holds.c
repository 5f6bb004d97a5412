// SPDX-License-Identifier: MIT
// Branches of which one keeps the lock, in ways that only their conditions make right, and unlocked
// work that branches share: they hold, and behave as before.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold split twice (split-that-holds.c:[[#]])
// CHECK-NEXT: is unlocked under a condition, and what follows runs with or without the lock [split]
// CHECK:      hold split shared (split-that-holds.c:[[#]])
// CHECK-NEXT: unlocks here, and goes on [split]
// CHECK:      hold split falls (split-that-holds.c:[[#]])
// CHECK-NEXT: no unlock follows in the block of the lock [split]
// CHECK:      hold split around (split-that-holds.c:[[#]])
// CHECK-NEXT: no unlock follows in the block of the lock [split]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, outside;

// The conditions agree.
static void twice(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  if (n > 2) {
    pthread_mutex_unlock(&lock);
    outside++;
  }
  if (n <= 2)
    pthread_mutex_unlock(&lock);
}

// Two unlocks share the work behind them.
static void shared(int n) {
  pthread_mutex_lock(&lock);
  if (n > 0) {
    if (n > 2) {
      total++;
      pthread_mutex_unlock(&lock);
    } else {
      total--;
      pthread_mutex_unlock(&lock);
    }
    outside++;
  } else {
    pthread_mutex_unlock(&lock);
  }
}

// The work of one case falls into the next one's.
static void falls(int n) {
  pthread_mutex_lock(&lock);
  switch (n) {
  case 0:
    total++;
    pthread_mutex_unlock(&lock);
    outside++;
    if (0)
    default:
      pthread_mutex_unlock(&lock);
  }
}

// The loop goes on without the lock.
static void around(int n) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 3; i++) {
    if (i == 1) {
      total += n;
      pthread_mutex_unlock(&lock);
    }
    if (i == 2)
      outside++;
  }
}

int main(void) {
  for (int i = 0; i < 4; i++) {
    twice(i);
    shared(i);
    falls(i);
    around(i);
  }
  printf("%d %d\n", total, outside);
  return 0;
}
