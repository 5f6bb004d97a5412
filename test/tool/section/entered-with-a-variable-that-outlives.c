// SPDX-License-Identifier: MIT
// A variable of the arm that a taken lock enters may be pointed to when the section has ended: it is declared before
// the `if`, or holds the section where no declaration can stand there.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-std=gnu89
// CHECK:      delegate straight kept
// CHECK-NEXT: delegate straight tested_before
// CHECK-NEXT: hold straight in_a_chain
// CHECK-NEXT: [declaration-outlives]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
void keep(int *p);

static void kept(int n) {
  if (!pthread_mutex_lock(&lock)) {
    int own = n;
    total += own;
    keep(&own);
    pthread_mutex_unlock(&lock);
  }
}
static int tested_before(int n) {
  int r = pthread_mutex_lock(&lock);
  if (r == 0) {
    int own = 2 * n;
    total += own;
    keep(&own);
    pthread_mutex_unlock(&lock);
  } else {
    return -1;
  }
  return r;
}
static void in_a_chain(int n) {
  if (n > 2)
    total--;
  else if (!pthread_mutex_lock(&lock)) {
    int own = 3 * n;
    total += own;
    keep(&own);
    pthread_mutex_unlock(&lock);
  }
}
static int *last;
void keep(int *p) {
  last = p;
}
int main(void) {
  int n;
  for (n = 0; n < 4; n++) {
    kept(n);
    total += tested_before(n);
    in_a_chain(n);
  }
  printf("%d %d\n", total, last != NULL);
  return 0;
}
