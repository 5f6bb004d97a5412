// SPDX-License-Identifier: MIT
// An array travels as a pointer to its elements, a struct by address; rows keep their length.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct fill_section {
// CHECK-NEXT:   int *line;
// CHECK-NEXT:   int (*grid)[3];
// CHECK-NEXT:   struct point *at;
// CHECK-NEXT:   struct point *copy;
// CHECK-NEXT: };
// CHECK:        section->line[0] = ++calls;
// CHECK-NEXT:   section->grid[1][2] = calls;
// CHECK-NEXT:   section->at->x += calls;
// CHECK-NEXT:   *section->copy = *section->at;
// CHECK:        struct fill_section section = {.line = line, .grid = grid, .at = &at,
// CHECK-NEXT:       .copy = &copy};
// CHECK-NEXT:   relock_execute_any_thread(&lock, fill_section, &section);
#include <pthread.h>
#include <stdio.h>

struct point {
  int x, y;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;

static int fill(void) {
  int line[2] = {0, 5}, grid[2][3] = {{0}};
  struct point at = {40, 50}, copy;
  pthread_mutex_lock(&lock);
  line[0] = ++calls;
  grid[1][2] = calls;
  at.x += calls;
  copy = at;
  pthread_mutex_unlock(&lock);
  return line[0] + line[1] + grid[1][2] + copy.x + copy.y;
}

int main(void) {
  int first = fill(), second = fill();
  printf("%d %d\n", first, second);
  return 0;
}
