// SPDX-License-Identifier: MIT
// A trylock may not take the lock, so that there may be no section: whatever is done with its
// result, it holds at its own place.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold try tested (trylock-holds.c:[[#AT:]])
// CHECK-NEXT: trylock-holds.c:[[#AT]]: the lock may not be taken [try]
// CHECK:      hold try stored (trylock-holds.c:[[#AT:]])
// CHECK-NEXT: trylock-holds.c:[[#AT]]: the lock may not be taken [try]
// CHECK:      hold try looped (trylock-holds.c:[[#AT:]])
// CHECK-NEXT: trylock-holds.c:[[#AT]]: the lock may not be taken [try]
// CHECK:      3 lock sites: 0 delegate, 3 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int tested(void) {
  if (pthread_mutex_trylock(&lock) != 0)
    return 0;
  total++;
  pthread_mutex_unlock(&lock);
  return 1;
}

static int stored(void) {
  int busy = pthread_mutex_trylock(&lock);
  if (!busy) {
    total++;
    pthread_mutex_unlock(&lock);
  }
  return busy;
}

static void looped(void) {
  while (pthread_mutex_trylock(&lock))
    ;
  total++;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  printf("%d %d", tested(), stored());
  looped();
  printf(" %d\n", total);
  return 0;
}
