// SPDX-License-Identifier: MIT
// A variable that only sections use, each for itself, moves into all of them.
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-Wall
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int sum_section(void *context) {
// CHECK:        for (i = 0; i < 4; i++)
// CHECK:      static int sum_section2(void *context) {
// CHECK:        for (i = 0; i < 4; i++)
// CHECK:        relock_execute_any_thread(&lock, sum_section,
// CHECK:        relock_execute_any_thread(&lock, sum_section2,
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[4] = {1, 2, 3, 4}, total;
static void sum(void) {
  int i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < 4; i++)
    total += numbers[i];
  pthread_mutex_unlock(&lock);
  printf("%d\n", numbers[0]);
  pthread_mutex_lock(&lock);
  for (i = 0; i < 4; i++)
    numbers[i]++;
  pthread_mutex_unlock(&lock);
}
int main(void) {
  sum();
  sum();
  printf("%d\n", total);
  return 0;
}
