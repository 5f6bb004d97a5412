// SPDX-License-Identifier: MIT
// The lock operand means another lock at the unlock: through a global pointer, a member of a
// local struct, and a local that a callee changes.
// RUN: %check_rewrite %s --algorithms=posix,mcs
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (changed-lock-expression-holds.c:[[#]])
// CHECK-NEXT: [lock-expression]
// CHECK:      hold straight work2
// CHECK-NEXT: [lock-expression]
// CHECK:      hold straight work3
// CHECK-NEXT: [lock-expression]
#include <pthread.h>
#include <stdio.h>
struct box { pthread_mutex_t lock; int n; };
static struct box one = {PTHREAD_MUTEX_INITIALIZER, 0}, two = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct box *current = &one;
struct cursor { struct box *at; };
static void work(void) {
  pthread_mutex_lock(&current->lock);
  current->n++;
  current = &two;
  pthread_mutex_unlock(&current->lock);
}
static void work2(void) {
  struct cursor c = {&one};
  pthread_mutex_lock(&c.at->lock);
  c.at->n++;
  c.at = &two;
  pthread_mutex_unlock(&c.at->lock);
}
static void next(struct box **b) { *b = &two; }
static void work3(void) {
  struct box *b = &one;
  pthread_mutex_lock(&b->lock);
  b->n++;
  next(&b);
  pthread_mutex_unlock(&b->lock);
}
static void other(void (*f)(void)) {
  /* two is held, one ends held */
  pthread_mutex_lock(&two.lock);
  f();
  printf("%d %d\n", pthread_mutex_trylock(&one.lock) != 0, pthread_mutex_trylock(&two.lock) != 0);
  pthread_mutex_unlock(&one.lock);
  pthread_mutex_unlock(&two.lock);
}
int main(void) {
  other(work);
  other(work2);
  other(work3);
  return 0;
}
