// SPDX-License-Identifier: MIT
// Members of anonymous structs and unions, a struct that only its typedef names, and a type without any
// name, which cannot be written elsewhere.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:        total += section->p->number + section->p->inner.count;
// CHECK-NEXT:   section->p->inner.count = 5;
// CHECK-NEXT:   section->point->x++;
// CHECK:      static int nameless(
// CHECK:        relock_mutex_lock(&lock);
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

struct value {
  union {
    int number;
    float real;
  };
  struct {
    int count;
  } inner;
};
typedef struct {
  int x, y;
} point_t;

static int members(int n) {
  struct value p = {{n}, {3}};
  point_t point = {1, 2};
  pthread_mutex_lock(&lock);
  total += p.number + p.inner.count;
  p.inner.count = 5;
  point.x++;
  pthread_mutex_unlock(&lock);
  return p.inner.count + point.x + point.y;
}

static int nameless(int n) {
  struct {
    int x;
  } v = {n};
  pthread_mutex_lock(&lock);
  v.x += total;
  pthread_mutex_unlock(&lock);
  return v.x;
}

int main(void) {
  int first = members(3), second = nameless(4);
  printf("%d %d %d\n", first, second, total);
  return 0;
}
