// SPDX-License-Identifier: MIT
// An array with an initialiser, a static variable, and a name that means something else in the
// function cannot be declared before the lock.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight array (declaration-that-cannot-be-hoisted.c:[[#]])
// CHECK:      'list' is declared in the section and used after it [declaration-outlives]
// CHECK:      hold straight keeps (declaration-that-cannot-be-hoisted.c:[[#]])
// CHECK-NEXT: 'calls' is declared in the section and used after it [declaration-outlives]
// CHECK:      hold straight hides (declaration-that-cannot-be-hoisted.c:[[#]])
// CHECK-NEXT: 'total' is declared in the section and used after it [declaration-outlives]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int array(int n) {
  pthread_mutex_lock(&lock);
  int list[2] = {total, n};
  total += n;
  pthread_mutex_unlock(&lock);
  return list[0] + list[1];
}

static int keeps(void) {
  pthread_mutex_lock(&lock);
  static int calls;
  calls++;
  pthread_mutex_unlock(&lock);
  return calls;
}

static int hides(int n) {
  total += n;
  pthread_mutex_lock(&lock);
  int total = n + 1;
  pthread_mutex_unlock(&lock);
  return total;
}

int main(void) {
  int a = array(3), b = keeps(), c = hides(2);
  printf("%d %d %d %d\n", a, b, c, total);
  return 0;
}
