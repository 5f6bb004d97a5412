// SPDX-License-Identifier: MIT
// Two sections of one function with the same text have one function and one struct, and each its own
// variables at the call; what follows an exit may differ.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int take_section(void *context)
// CHECK-NOT:  static int take_section2
// CHECK:      struct take_section section = {.n = n, .kind = kind};
// CHECK-NEXT: int taken = relock_execute_any_thread(&lock, take_section, &section);
// CHECK:      struct take_section section2 = {.n = n, .kind = kind};
// CHECK-NEXT: int taken2 = relock_execute_any_thread(&lock, take_section, &section2);
// CHECK:      return 30;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, kinds;

static int take(int n, int kind) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return 1;
  }
  if (n == 4) {
    pthread_mutex_unlock(&lock);
    return 2;
  }
  total += n;
  kinds |= kind;
  pthread_mutex_unlock(&lock);
  printf("%d ", n);
  pthread_mutex_lock(&lock);
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return 30;
  }
  if (n == 4) {
    pthread_mutex_unlock(&lock);
    return 2;
  }
  total += n;
  kinds |= kind;
  pthread_mutex_unlock(&lock);
  return n;
}

int main(void) {
  for (int i = -2; i < 7; i++)
    printf("%d ", take(i, 1 << (i + 2)));
  printf("%d %d\n", total, kinds);
  return 0;
}
