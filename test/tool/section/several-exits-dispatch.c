// SPDX-License-Identifier: MIT
// Each early exit has a number; the caller leaves by return, goto, break or continue as before.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:          return 1;
// CHECK:          return 2;
// CHECK:          return 3;
// CHECK:          return 4;
// CHECK:        return 0;
// CHECK:          if (taken == 1) {
// CHECK-NEXT:       continue;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 2) {
// CHECK-NEXT:       break;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 3) {
// CHECK-NEXT:       goto failed;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (taken == 4) {
// CHECK-NEXT:       return -2;
// CHECK-NEXT:     }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static int walk(const int *numbers, int count) {
  int passed = 0;
  for (int i = 0; i < count; i++) {
    int number = numbers[i];
    pthread_mutex_lock(&lock);
    if (number == 3) {
      pthread_mutex_unlock(&lock);
      continue;
    }
    if (number == 5) {
      pthread_mutex_unlock(&lock);
      break;
    }
    if (number < 0) {
      pthread_mutex_unlock(&lock);
      goto failed;
    }
    if (number > 100) {
      pthread_mutex_unlock(&lock);
      return -2;
    }
    sum += number;
    pthread_mutex_unlock(&lock);
    passed++;
  }
  return passed;
failed:
  return -1;
}

int main(void) {
  int stops[] = {1, 3, 2, 5, 9}, fails[] = {1, -1}, great[] = {1, 1000}, ends[] = {3, 4, 3};
  printf("%d ", walk(stops, 5));
  printf("%d ", walk(fails, 2));
  printf("%d ", walk(great, 2));
  printf("%d ", walk(ends, 3));
  printf("%d\n", sum);
  return 0;
}
