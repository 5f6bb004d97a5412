// SPDX-License-Identifier: MIT
// What ran before the lock, in it, after an early unlock and after the last one keeps its order.
// RUN: %check_rewrite %s --algorithms=posix,rcl --flags=-Wall
// RUN: %rewritten %s | FileCheck %s
// CHECK:        if (taken == 1) {
// CHECK-NEXT:     note(3);
// CHECK-NEXT:     state = 9;
// CHECK-NEXT:     return state;
// CHECK-NEXT:   }
// CHECK-NEXT:   if (taken == 2) {
// CHECK-NEXT:     for (int i = 0; i < 2; i++) {
// CHECK:          return -state;
// CHECK-NEXT:   }
// CHECK-NEXT:   note(6);
// CHECK-NEXT:   return state;
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, log_[10], n_log;
static void note(int v) { log_[n_log++] = v; }
static int work(int n) {
  int state = 0;
  note(0);
  pthread_mutex_lock(&lock);
  note(1);
  state = n;
  if (state == 2) {
    note(2);
    pthread_mutex_unlock(&lock);
    note(3);
    state = 9;
    return state;
  } else if (state == 3) {
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) {
      if (i == 1)
        break;
      note(4);
    }
    return -state;
  }
  note(5);
  total += state;
  pthread_mutex_unlock(&lock);
  note(6);
  return state;
}
int main(void) {
  for (int i = 1; i < 4; i++) {
    n_log = 0;
    printf("%d:", work(i));
    for (int j = 0; j < n_log; j++)
      printf(" %d", log_[j]);
    printf("\n");
  }
  return 0;
}
