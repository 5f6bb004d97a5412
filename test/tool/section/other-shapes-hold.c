// SPDX-License-Identifier: MIT
// Split, conditional, cross-function, try and timed locks hold, each with
// its shape and reason, and behave as before.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold split split (other-shapes-hold.c:[[#]])
// CHECK-NEXT: [split]
// CHECK:      hold conditional maybe
// CHECK-NEXT: the lock is not a statement of a block [conditional]
// CHECK:      hold cross-function begin
// CHECK-NEXT: [cross-function]
// CHECK:      hold try try
// CHECK-NEXT: the lock may not be taken [try]
// CHECK:      hold try timed
// CHECK-NEXT: the lock may not be taken [try]
// CHECK:      6 lock sites: 0 delegate, 6 hold, 0 keep, 0 uncovered
// CHECK-NEXT: relock: exit status 1
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, outside;

static int split(int n) {
  pthread_mutex_lock(&lock);
  if (n > 2) {
    total += n;
    pthread_mutex_unlock(&lock);
    outside++;
  }
  if (n <= 2)
    pthread_mutex_unlock(&lock);
  return n;
}

static void maybe(int locks) {
  if (locks)
    pthread_mutex_lock(&lock);
  total++;
  if (locks != 0)
    pthread_mutex_unlock(&lock);
}

static void begin(int amount) {
  pthread_mutex_lock(&lock);
  total += amount;
  outside++;
}

static void end(void) {
  total++;
  pthread_mutex_unlock(&lock);
}

static int try(void) {
  if (pthread_mutex_trylock(&lock) != 0)
    return 0;
  total++;
  pthread_mutex_unlock(&lock);
  return 1;
}

static int timed(void) {
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  int result = pthread_mutex_timedlock(&lock, &soon);
  if (result == 0)
    pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  split(2);
  split(3);
  maybe(0);
  maybe(1);
  begin(4);
  printf("%d ", try());
  end();
  printf("%d %d", try(), timed());
  printf(" %d %d\n", total, outside);
  return 0;
}
