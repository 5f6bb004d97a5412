// SPDX-License-Identifier: MIT
// The address of a register variable cannot be taken: a section that sets one holds.
// RUN: %check_rewrite %s --algorithms=rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      lock (register-output-holds.c:[[#]]): convert
// CHECK-NEXT:   hold straight count (register-output-holds.c:[[#]])
// CHECK-NEXT: 'calls' is a register variable that the section writes [register]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int count(void) {
  register int calls;
  pthread_mutex_lock(&lock);
  calls = ++total;
  pthread_mutex_unlock(&lock);
  return calls;
}

int main(void) {
  printf("%d\n", count());
  return 0;
}
