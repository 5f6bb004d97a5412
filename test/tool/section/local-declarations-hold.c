// SPDX-License-Identifier: MIT
// Functions and objects that only the function itself declares are unknown above it.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (local-declarations-hold.c:[[#]])
// CHECK-NEXT: 'later' is not declared before its function [declared-late]
// CHECK-NEXT: 'late' is not declared before its function [declared-late]
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void work(void) {
  extern int late;
  int later(int);
  pthread_mutex_lock(&lock);
  total += later(late);
  pthread_mutex_unlock(&lock);
}
int late = 3;
int later(int);
int later(int n) { return n + 1; }
int main(void) {
  work();
  printf("%d\n", total);
  return 0;
}
