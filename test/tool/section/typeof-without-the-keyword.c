// SPDX-License-Identifier: MIT
// ISO C before C23 has no `typeof`: the extracted function has the types that it stands for.
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-std=c11
// RUN: %rewritten %s -- -std=c11 | FileCheck %s
// CHECK:      int *a;
// CHECK-NEXT: int **b;
// CHECK-NEXT: long *c;
// CHECK-NOT:  {{[^_]}}typeof
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
int main(void) {
  __typeof__(int) a = 1;
  __typeof__(total) *b = &total;
  __typeof__(long) c = 2;
  pthread_mutex_lock(&lock);
  a += total++;
  b = &a;
  c += *b;
  pthread_mutex_unlock(&lock);
  printf("%d %d %ld\n", a, *b, c);
  return 0;
}
