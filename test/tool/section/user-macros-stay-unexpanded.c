// SPDX-License-Identifier: MIT
// The user's macros inside a section move as they are written: object-like and function-like ones,
// loops and declarations among them.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int sum_section(void *context) {
// CHECK:        FOR_EACH(i, LENGTH) {
// CHECK-NEXT:     ADD(total, MAX(values[i], LEAST));
// CHECK-NEXT:   }
// CHECK:      static void sum(void) {
#include <pthread.h>
#include <stdio.h>

#define LENGTH 4
#define LEAST 2
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ADD(to, amount) do { (to) += (amount); } while (0)
#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[LENGTH] = {1, 2, 3, 4}, total;

static void sum(void) {
  pthread_mutex_lock(&lock);
  FOR_EACH(i, LENGTH) {
    ADD(total, MAX(values[i], LEAST));
  }
  pthread_mutex_unlock(&lock);
}

int main(void) {
  sum();
  printf("%d\n", total);
  return 0;
}
