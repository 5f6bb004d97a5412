// SPDX-License-Identifier: MIT
// Parameters of a definition in the style of Kernighan and Ritchie.
// RUN: %check_rewrite %s --flags=-Wno-deprecated-non-prototype --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct add_section
// CHECK-NEXT: {
// CHECK-NEXT:   int *amount;
// CHECK-NEXT:   char factor;
// CHECK-NEXT: };
// CHECK:      static int add(amount, factor)
// CHECK-NEXT: int amount;
// CHECK-NEXT: char factor;
// CHECK-NEXT: {
// CHECK-NEXT:   struct add_section section = {.amount = &amount, .factor = factor};
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int add(amount, factor)
int amount;
char factor;
{
  pthread_mutex_lock(&lock);
  total += amount * factor;
  amount = total;
  pthread_mutex_unlock(&lock);
  return amount;
}

int main(void) {
  int first = add(2, 3), second = add(4, 5);
  printf("%d %d\n", first, second);
  return 0;
}
