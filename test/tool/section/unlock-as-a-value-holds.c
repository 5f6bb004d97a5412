// SPDX-License-Identifier: MIT
// Unlocks that are no statements of their own: in a macro that returns, in a comma expression, in
// a return statement, with their result used: of these the last is done.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold early-exit bail (unlock-as-a-value-holds.c:[[#]])
// CHECK-NEXT: part of the section stands in a macro [macro-section]
// CHECK:      hold {{.*}} comma
// CHECK:      delegate straight used
// CHECK:      3 lock sites: 1 delegate, 2 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>
#define BAIL(x) do { pthread_mutex_unlock(&lock); return (x); } while (0)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int bail(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    BAIL(-1);
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}
static int comma(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    return pthread_mutex_unlock(&lock), -1;
  total += n;
  return pthread_mutex_unlock(&lock);
}
static int used(int n) {
  int rc;
  pthread_mutex_lock(&lock);
  total += n;
  rc = pthread_mutex_unlock(&lock);
  return rc;
}
int main(void) {
  printf("%d ", bail(-1));
  printf("%d ", bail(1));
  printf("%d ", comma(-1));
  printf("%d ", comma(1));
  printf("%d ", used(1));
  printf("%d\n", total);
  return 0;
}
