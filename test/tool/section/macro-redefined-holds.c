// SPDX-License-Identifier: MIT
// A macro that changes its meaning inside the function would mean something else in a function
// that stands before it.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (macro-redefined-holds.c:[[#]])
// CHECK-NEXT: a preprocessor directive stands between the function's begin and the section [preprocessor]
#include <pthread.h>
#include <stdio.h>
#define STEP 1
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void work(void) {
#undef STEP
#define STEP 2
  pthread_mutex_lock(&lock);
  total += STEP;
  pthread_mutex_unlock(&lock);
}
int main(void) {
  work();
  printf("%d\n", total);
  return 0;
}
