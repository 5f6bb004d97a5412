// SPDX-License-Identifier: MIT
// A handler that is known only as a pointer may do anything to the mutex that it is given.
// RUN: %check_rewrite %s --refused
// RUN: %verdicts %s | FileCheck %s
// CHECK: [[@LINE+6]]: is used in a way that is not followed [unknown-use]
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void add(void (*unlock)(void *)) {
  pthread_cleanup_push(unlock, &lock);
  pthread_mutex_lock(&lock);
  total++;
  pthread_cleanup_pop(1);
}
static void plain(void *m) { pthread_mutex_unlock(m); }
int main(void) {
  add(plain);
  printf("%d\n", total);
  return 0;
}
