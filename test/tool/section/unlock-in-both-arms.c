// SPDX-License-Identifier: MIT
// Both arms unlock, each goes on with work of its own, and control joins behind the `if`: the
// caller runs what follows the unlock of the arm that was taken.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        if (found) {
// CHECK:          return 1;
// CHECK-NEXT:   } else {
// CHECK:          return 0;
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:        if (relock_execute_any_thread(&lock, count_section, &section)) {
// CHECK-NEXT:     hits++; // outside the lock
// CHECK-NEXT:     printf("hit %d\n", key);
// CHECK-NEXT:   } else {
// CHECK-NEXT:     printf("miss %d\n", key);
// CHECK-NEXT:   }
// CHECK-NEXT:   return hits;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keys[4], used, hits;

static int count(int key) {
  pthread_mutex_lock(&lock);
  int found = 0;
  for (int i = 0; i < used; i++)
    found |= keys[i] == key;
  if (found) {
    keys[0] = key;
    pthread_mutex_unlock(&lock);
    hits++; // outside the lock
    printf("hit %d\n", key);
  } else {
    keys[used++] = key;
    pthread_mutex_unlock(&lock);
    printf("miss %d\n", key);
  }
  return hits;
}

int main(void) {
  int first = count(4), second = count(5), third = count(4);
  printf("%d %d %d %d\n", first, second, third, used);
  return 0;
}
