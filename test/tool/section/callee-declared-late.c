// SPDX-License-Identifier: MIT
// A section that calls its own function, which is not declared above it.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight down (callee-declared-late.c:[[#]])
// CHECK-NEXT: 'down' is not declared before its function [declared-late]
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int down(int n, int locked) {
  int result = 0;
  if (!locked) {
    pthread_mutex_lock(&lock);
    total += n;
    result = down(n - 1, 1);
    pthread_mutex_unlock(&lock);
  } else if (n > 0) {
    result = n + down(n - 1, 1);
  }
  return result;
}
int main(void) {
  printf("%d\n", down(5, 0));
  printf("%d\n", total);
  return 0;
}
