// SPDX-License-Identifier: MIT
// Enumerations travel under the name that the program gave them.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct turn_section {
// CHECK-NEXT:   enum shape *next;
// CHECK-NEXT:   enum shape shape;
// CHECK-NEXT:   color_t *color;
// CHECK-NEXT: };
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

typedef enum { RED, GREEN } color_t;
enum shape { ROUND, SQUARE };

static int turn(enum shape shape) {
  color_t color = GREEN;
  enum shape next;
  pthread_mutex_lock(&lock);
  next = shape == ROUND ? SQUARE : ROUND;
  if (++total > 2)
    color = RED;
  pthread_mutex_unlock(&lock);
  return 2 * color + next;
}

int main(void) {
  int first = turn(ROUND), second = turn(SQUARE), third = turn(ROUND);
  printf("%d %d %d\n", first, second, third);
  return 0;
}
