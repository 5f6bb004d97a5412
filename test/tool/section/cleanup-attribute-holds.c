// SPDX-License-Identifier: MIT
// A variable with a cleanup function would be cleaned up before the unlock instead of after it.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight clean (cleanup-attribute-holds.c:[[#]])
// CHECK:      hold straight work (cleanup-attribute-holds.c:[[#]])
// CHECK-NEXT: 'held' has a cleanup function, which runs after the unlock [cleanup]
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, cleaned;
static void clean(int *n) {
  cleaned += *n;
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
static void work(void) {
  pthread_mutex_lock(&lock);
  int __attribute__((cleanup(clean))) held = 1;
  total += held;
  pthread_mutex_unlock(&lock);
}
int main(void) {
  work();
  printf("%d %d\n", total, cleaned);
  return 0;
}
