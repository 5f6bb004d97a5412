// SPDX-License-Identifier: MIT
// Function pointers travel by value and by address, alone, behind a typedef and in an array.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct compare_section {
// CHECK-NEXT:   int (**operation)(int, int);
// CHECK-NEXT:   operation_t other;
// CHECK-NEXT:   int n;
// CHECK-NEXT:   int (**table)(int, int);
// CHECK-NEXT: };
// CHECK:        if (*section->operation == plus && section->other != NULL)
// CHECK-NEXT:     total += plus(section->n, 1);
// CHECK-NEXT:   if (section->table[1] == plus)
// CHECK-NEXT:     *section->operation = minus;
// CHECK:      static void call(
// CHECK-NEXT:   struct call_section section = {.operation = operation};
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

typedef int (*operation_t)(int, int);

static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a - b; }

static int compare(int n) {
  int (*operation)(int, int) = plus;
  operation_t other = n > 2 ? plus : NULL;
  int (*table[2])(int, int) = {minus, plus};
  pthread_mutex_lock(&lock);
  if (operation == plus && other != NULL)
    total += plus(n, 1);
  if (table[1] == plus)
    operation = minus;
  pthread_mutex_unlock(&lock);
  return operation(n, 1);
}

static void call(operation_t operation) {
  pthread_mutex_lock(&lock);
  total = operation(total, 2);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  for (int i = 0; i < 5; i++)
    call(plus), printf("%d ", compare(i));
  printf("%d\n", total);
  return 0;
}
