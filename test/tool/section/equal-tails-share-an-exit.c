// SPDX-License-Identifier: MIT
// Exits after which the caller does the same have one number.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:          return 1;
// CHECK:          return 2;
// CHECK:          return 1;
// CHECK:        int taken = relock_execute_any_thread(&lock, put_section, &section);
// CHECK-NEXT:   if (taken == 1) {
// CHECK-NEXT:     return -1;
// CHECK-NEXT:   }
// CHECK-NEXT:   if (taken == 2) {
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   }
// CHECK-NEXT:   return 1;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[3], used;

static int put(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  for (int i = 0; i < used; i++)
    if (slots[i] == n) {
      pthread_mutex_unlock(&lock);
      return 0;
    }
  if (used == 3) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  slots[used++] = n;
  pthread_mutex_unlock(&lock);
  return 1;
}

int main(void) {
  int order[] = {4, 4, -1, 5, 6, 7};
  for (int i = 0; i < 6; i++)
    printf("%d ", put(order[i]));
  printf("%d\n", used);
  return 0;
}
