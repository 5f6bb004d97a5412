// SPDX-License-Identifier: MIT
// No unlock in the block of the lock: each branch unlocks and returns its own value. The last tail
// stands behind the call as it is.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        if (relock_execute_any_thread(&lock, sign_section, &section)) {
// CHECK-NEXT:     return -1;
// CHECK-NEXT:   }
// CHECK-NEXT:   positive++;
// CHECK-NEXT:   return n;
// CHECK-NEXT: }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls, positive;

static int sign(int n) {
  pthread_mutex_lock(&lock);
  calls++;
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return -1;
  } else {
    calls++;
    pthread_mutex_unlock(&lock);
    positive++;
    return n;
  }
}

int main(void) {
  int a = sign(-4), b = sign(7);
  printf("%d %d %d %d\n", a, b, calls, positive);
  return 0;
}
