// SPDX-License-Identifier: MIT
// A variable that only the section uses is declared in the extracted function, not outside.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int sum_section(void *context) {
// CHECK:        int i;
// CHECK:        for (i = 0; i < 4; i++)
// CHECK:      static int sum(void) {
// CHECK-NEXT:    int result = 0;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[4] = {1, 2, 3, 4};

static int sum(void) {
  int i;
  int result = 0;
  pthread_mutex_lock(&lock);
  for (i = 0; i < 4; i++)
    result += numbers[i];
  pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  printf("%d\n", sum());
  return 0;
}
