// SPDX-License-Identifier: MIT
// What a section must not contain to be moved: each of these holds, with its reason, and works.
// RUN: %check_rewrite %s --algorithms=rcl --flags=-Wno-unused-but-set-variable
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight at_exit (held-text.c:[[#]])
// CHECK-NEXT: returns with the lock held [held-at-exit]
// CHECK:      hold {{.*}} side_entry
// CHECK-NEXT: [{{[a-z-]+}}]
// CHECK:      hold {{.*}} side_entry
// CHECK:      hold straight outlives
// CHECK-NEXT: 'sum' is declared in the section and used after it [declaration-outlives]
// CHECK:      hold straight local_type
// CHECK:      [local-type]
// CHECK:      hold straight variable
// CHECK:      [stack-frame]
// CHECK:      hold straight vla
// CHECK:      [variable-type]
// CHECK:      hold straight on_stack
// CHECK-NEXT: allocates on the stack of its function [alloca]
// CHECK:      hold straight assembly
// CHECK-NEXT: contains inline assembly [assembly]
// CHECK:      hold straight directive
// CHECK-NEXT: text that is not compiled here leaves the section, or names what is not known here [preprocessor]
// CHECK:      hold straight computed
// CHECK:      [computed-goto]
// CHECK:      0 delegate, 11 hold, 0 keep, 0 uncovered
#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int at_exit(int n) {
  pthread_mutex_lock(&lock);
  if (n > 5)
    return -1;
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}

static void side_entry(int n) {
  if (n == 2) {
    pthread_mutex_lock(&lock);
    goto inside;
  }
  pthread_mutex_lock(&lock);
  total += n;
inside:
  total++;
  pthread_mutex_unlock(&lock);
}

static int outlives(void) {
  pthread_mutex_lock(&lock);
  static int sum;
  sum = total + 1;
  total = sum;
  pthread_mutex_unlock(&lock);
  return sum;
}

static int local_type(int n) {
  struct pair {
    int a, b;
  } pair = {n, 2};
  pthread_mutex_lock(&lock);
  total += pair.a + pair.b;
  pthread_mutex_unlock(&lock);
  return pair.a;
}

static void variable(int count, ...) {
  va_list list;
  pthread_mutex_lock(&lock);
  va_start(list, count);
  while (count-- > 0)
    total += va_arg(list, int);
  va_end(list);
  pthread_mutex_unlock(&lock);
}

static void vla(int n) {
  pthread_mutex_lock(&lock);
  char text[n];
  memset(text, 1, n);
  total += text[n - 1];
  pthread_mutex_unlock(&lock);
}

static void on_stack(int n) {
  char *text;
  pthread_mutex_lock(&lock);
  text = alloca(n);
  memset(text, 1, n);
  total += text[n - 1];
  pthread_mutex_unlock(&lock);
}

static void assembly(void) {
  pthread_mutex_lock(&lock);
  __asm__ volatile("" ::: "memory");
  total++;
  pthread_mutex_unlock(&lock);
}

static void directive(void) {
  pthread_mutex_lock(&lock);
#ifdef NDEBUG
  total += steps;
#else
  total += 1;
#endif
  pthread_mutex_unlock(&lock);
}

static void computed(int n) {
  static void *const labels[] = {&&even, &&odd};
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
  goto *labels[n & 1];
even:
  total += 100;
odd:
  return;
}

int main(void) {
  at_exit(1);
  side_entry(1);
  side_entry(2);
  outlives();
  local_type(1);
  variable(2, 3, 4);
  vla(3);
  on_stack(4);
  assembly();
  directive();
  computed(2);
  printf("%d\n", total);
  return 0;
}
