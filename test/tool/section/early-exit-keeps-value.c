// SPDX-License-Identifier: MIT
// What follows an unlock in a branch runs in the caller, outside the lock, in its order, with its
// comment and with the values that the section has left.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int take_section(void *context) {
// CHECK:        if (left < wanted) {
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   }
// CHECK:        left -= wanted;
// CHECK-NEXT:   return 0;
// CHECK:        if (relock_execute_any_thread(&lock, take_section, &section)) {
// CHECK-NEXT:     refused++; // outside the lock
// CHECK-NEXT:     printf("%d of %d\n", missing, wanted);
// CHECK-NEXT:     return missing;
// CHECK-NEXT:   }
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 10, refused;

static int take(int wanted) {
  int missing;
  pthread_mutex_lock(&lock);
  missing = wanted - left;
  if (left < wanted) {
    pthread_mutex_unlock(&lock);
    refused++; // outside the lock
    printf("%d of %d\n", missing, wanted);
    return missing;
  }
  left -= wanted;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  int first = take(7), second = take(7);
  printf("%d %d %d %d\n", first, second, left, refused);
  return 0;
}
