// SPDX-License-Identifier: MIT
// One of several declarators moves inside: the others stay as they are written.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:        int *at;
// CHECK:      static int sum(void) {
// CHECK-NEXT:   int result = 0, last = 4;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[4] = {1, 2, 3, 4};

static int sum(void) {
  int result = 0, *at, last = 4;
  pthread_mutex_lock(&lock);
  for (at = numbers; at < numbers + last; at++)
    result += *at;
  pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  printf("%d\n", sum());
  return 0;
}
