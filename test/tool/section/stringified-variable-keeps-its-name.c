// SPDX-License-Identifier: MIT
// A macro that makes text of its argument prints the variable's own name after the rewrite, too.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      work (stringified-variable-keeps-its-name.c:[[#]])
#include <pthread.h>
#include <stdio.h>
#define SHOW(x) printf("%s=%d\n", #x, x)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int work(int n) {
  int last = 0;
  pthread_mutex_lock(&lock);
  total += n;
  last = total;
  SHOW(last);
  SHOW(n);
  pthread_mutex_unlock(&lock);
  return last;
}
int main(void) {
  printf("%d\n", work(1));
  return 0;
}
