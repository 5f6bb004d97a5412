// SPDX-License-Identifier: MIT
// A lock that is taken behind the unlock of an exit is no part of the section: both delegate.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static int add(int amount) {
// CHECK-NEXT:   struct add_section section = {.amount = amount};
// CHECK-NEXT:   if (relock_execute_any_thread(&lock, add_section, &section)) {
// CHECK-NEXT:     struct add_section2 section2 = {.amount = amount};
// CHECK-NEXT:     relock_execute_any_thread(&odd, add_section2, &section2);
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   }
// CHECK-NEXT:   return 0;
// REASON:     delegate early-exit add
// REASON:     delegate straight add
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t odd = PTHREAD_MUTEX_INITIALIZER;
static int total, others;

static int add(int amount) {
  pthread_mutex_lock(&lock);
  if (amount & 1) {
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&odd);
    others += amount;
    pthread_mutex_unlock(&odd);
    return 1;
  }
  total += amount;
  pthread_mutex_unlock(&lock);
  return 0;
}

static void *work(void *unused) {
  for (int i = 0; i < 2000; i++)
    add(i);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", total, others);
  return 0;
}
