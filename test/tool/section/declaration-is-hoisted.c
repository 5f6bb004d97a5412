// SPDX-License-Identifier: MIT
// Variables that the section declares and that are used behind it, or behind an unlock in a branch:
// they are declared before the call, and what initialised them is assigned.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int take_section(void *context) {
// CHECK:        *section->before = used;
// CHECK-NEXT:   if (*section->before == 0) {
// CHECK-NEXT:     *section->code = -1;
// CHECK-NEXT:     return 1;
// CHECK-NEXT:   }
// CHECK-NEXT:   *section->name = names[--used];
// CHECK-NEXT:   section->pair->a = used;
// CHECK:        int before;
// CHECK-NEXT:   int code;
// CHECK-NEXT:   const char *name;
// CHECK-NEXT:   struct pair pair;
// CHECK-NEXT:   struct take_section section = {
// CHECK:          printf("none %d\n", code);
// CHECK-NEXT:     return code;
// CHECK:      static int last(void) {
// CHECK-NEXT:   int n;
// CHECK-NEXT:   relock_execute_any_thread(&lock, last_section, &n);
// CHECK-NEXT:   return n;
#include <pthread.h>
#include <stdio.h>

struct pair {
  int a, b;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *names[] = {"one", "two"};
static int used = 2;

static int take(void) {
  pthread_mutex_lock(&lock);
  const int before = used;
  if (before == 0) {
    int code = -1;
    pthread_mutex_unlock(&lock);
    printf("none %d\n", code);
    return code;
  }
  const char *name = names[--used];
  struct pair pair;
  pair.a = used;
  pair.b = before;
  pthread_mutex_unlock(&lock);
  printf("%s %d %d\n", name, pair.a, pair.b);
  return before;
}

static int last(void) {
  pthread_mutex_lock(&lock);
  int n = used;
  pthread_mutex_unlock(&lock);
  return n;
}

int main(void) {
  int a = take(), b = take(), c = take();
  printf("%d %d %d %d\n", a, b, c, last());
  return 0;
}
