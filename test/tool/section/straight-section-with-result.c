// SPDX-License-Identifier: MIT
// The plain case: inputs by value, the result by address, one call in place of the section.
// RUN: %check_rewrite %s --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct add_section {
// CHECK-NEXT:   int amount;
// CHECK-NEXT:   long *sum;
// CHECK-NEXT: };
// CHECK:      static int add_section(void *context) {
// CHECK-NEXT:   struct add_section *section = context;
// CHECK:        total += section->amount;
// CHECK-NEXT:   *section->sum = total;
// CHECK-NEXT:   return 0;
// CHECK:        struct add_section section = {.amount = amount, .sum = &sum};
// CHECK-NEXT:   relock_execute_any_thread(&lock, add_section, &section);
// CHECK-NEXT:   return sum;
// CHECK-NOT:  pthread_mutex
// COUNTS:     relock: exit status 0
// COUNTS:     stats: lock held=0 executed=4000
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static long add(int amount) {
  long sum;
  pthread_mutex_lock(&lock);
  total += amount;
  sum = total;
  pthread_mutex_unlock(&lock);
  return sum;
}

static void *work(void *last) {
  for (int i = 0; i < 1000; i++)
    *(long *)last = add(2);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  long last[4], greatest = 0;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, &last[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    greatest = last[i] > greatest ? last[i] : greatest;
  }
  printf("%ld\n", greatest);
  return 0;
}
