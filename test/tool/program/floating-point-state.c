// SPDX-License-Identifier: MIT
// Rounding modes and errno of mathematical functions belong to the thread.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wl,--no-as-needed -lm'
// RUN: %verdicts %s | FileCheck %s
// CHECK:      divide (floating-point-state.c:[[#]])
// CHECK:      root (floating-point-state.c:[[#]])
// CHECK-NOT:  relock_execute_any_thread
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wrong;
static volatile double one = 1, three = 3, minus = -1, result;
static double divide(void) {
  double r;
  pthread_mutex_lock(&lock);
  r = one / three;
  pthread_mutex_unlock(&lock);
  return r;
}
static void root(void) {
  pthread_mutex_lock(&lock);
  result = sqrt(minus);
  pthread_mutex_unlock(&lock);
}
static void *run(void *mode) {
  double up;
  fesetround(mode ? FE_UPWARD : FE_DOWNWARD);
  up = one / three;
  for (int i = 0; i < 20000; i++) {
    double d = divide();
    if (d != up)
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    errno = 0;
    root();
    if (errno != EDOM)
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, i & 1 ? &t : NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d\n", wrong);
  return 0;
}
