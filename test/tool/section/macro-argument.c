// SPDX-License-Identifier: MIT
// A captured variable in the argument of a macro, used twice in its body.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:        highest = MAX(highest, section->value);
// CHECK-NEXT:   *section->result = MAX(*section->result, highest);
// CHECK-NEXT:   *section->result = TWICE((*section->result));
// CHECK-NEXT:   return 0;
#include <pthread.h>
#include <stdio.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define TWICE(x) ((x) + 2 * x)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int highest;

static int raise_to(int value) {
  int result = 2;
  pthread_mutex_lock(&lock);
  highest = MAX(highest, value);
  result = MAX(result, highest);
  result = TWICE(result);
  pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  int low = raise_to(1), high = raise_to(7);
  printf("%d %d\n", low, high);
  return 0;
}
