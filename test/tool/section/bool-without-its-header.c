// SPDX-License-Identifier: MIT
// _Bool is `bool` only where <stdbool.h> says so.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:        _Bool *odd;
// CHECK-NOT:  {{[^_]}}bool
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static _Bool work(int n) {
  _Bool odd = 0;
  pthread_mutex_lock(&lock);
  total += n;
  odd = total & 1;
  pthread_mutex_unlock(&lock);
  return odd;
}
int main(void) {
  printf("%d", work(1));
  printf("%d\n", work(1));
  return 0;
}
