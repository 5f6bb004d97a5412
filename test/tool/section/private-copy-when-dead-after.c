// SPDX-License-Identifier: MIT
// A parameter that the section changes and nothing reads afterwards is a copy of its own.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct drain_section {
// CHECK-NEXT:   int count;
// CHECK-NEXT:   int *taken;
// CHECK-NEXT: };
// CHECK:        int count = section->count;
// CHECK:        while (count > 0 && stock > 0) {
// CHECK-NEXT:     count--;
// CHECK-NEXT:     stock--;
// CHECK-NEXT:     (*section->taken)++;
// CHECK:      {.count = count, .taken = &taken}
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;

static int drain(int count) {
  int taken = 0;
  pthread_mutex_lock(&lock);
  while (count > 0 && stock > 0) {
    count--;
    stock--;
    taken++;
  }
  pthread_mutex_unlock(&lock);
  return taken;
}

int main(void) {
  int first = drain(3), second = drain(3);
  printf("%d %d\n", first, second);
  return 0;
}
