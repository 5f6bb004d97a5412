// SPDX-License-Identifier: MIT
// A section whose callee may block holds, through however many calls, and says which call it is.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=rcl
// CHECK:      hold straight direct (blocking-callee-holds.c:[[#]])
// CHECK-NEXT: calls 'usleep', which may block [may-block]
// CHECK:      hold straight indirect (blocking-callee-holds.c:[[#]])
// CHECK-NEXT: 'outer' calls 'inner' calls 'usleep', which may block [may-block]
// CHECK:      delegate straight computes
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void inner(void) { usleep(1); }
static void outer(void) { inner(); }
static int twice(int n) { return 2 * n; }

static void direct(void) {
  pthread_mutex_lock(&lock);
  usleep(1);
  total++;
  pthread_mutex_unlock(&lock);
}

static void indirect(void) {
  pthread_mutex_lock(&lock);
  outer();
  total++;
  pthread_mutex_unlock(&lock);
}

static void computes(void) {
  pthread_mutex_lock(&lock);
  total = twice(total);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  direct();
  indirect();
  computes();
  printf("%d\n", total);
  return 0;
}
