// SPDX-License-Identifier: MIT
// What the lock operand reads changes in the section: in a callee, behind a wrapper, or through a
// pointer.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight by_global (lock-operand-changed-elsewhere-holds.c:[[#]])
// CHECK:      hold straight by_member
// CHECK:      hold straight by_wrapper
// CHECK:      hold straight by_wrapper_and_callee
// CHECK:      hold straight by_alias
#include <pthread.h>
#include <stdio.h>
struct box { pthread_mutex_t lock; int n; };
struct cursor { struct box *at; };
static struct box one = {PTHREAD_MUTEX_INITIALIZER, 0}, two = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct box *current = &one;
static pthread_mutex_t *lock = &one.lock;
static void enter(void) { pthread_mutex_lock(lock); }
static void leave(void) { pthread_mutex_unlock(lock); }
static void enter_box(void) { pthread_mutex_lock(&current->lock); }
static void leave_box(void) { pthread_mutex_unlock(&current->lock); }
static void move_on(void) { current = &two; }
static void advance(struct cursor *c) { c->at = &two; }
static void by_global(void) {
  pthread_mutex_lock(&current->lock);
  current->n++;
  move_on();
  pthread_mutex_unlock(&current->lock);
}
static void by_member(struct cursor *c) {
  pthread_mutex_lock(&c->at->lock);
  c->at->n++;
  advance(c);
  pthread_mutex_unlock(&c->at->lock);
}
static void by_wrapper(void) {
  enter();
  one.n++;
  lock = &two.lock;
  leave();
}
static void by_wrapper_and_callee(void) {
  enter_box();
  current->n++;
  move_on();
  leave_box();
}
static void by_alias(struct cursor *c) {
  struct box **at = &c->at;
  pthread_mutex_lock(&c->at->lock);
  c->at->n++;
  *at = &two;
  pthread_mutex_unlock(&c->at->lock);
}
static void show(void) {
  printf("%d %d\n", pthread_mutex_trylock(&one.lock) != 0, pthread_mutex_trylock(&two.lock) != 0);
  pthread_mutex_unlock(&one.lock);
  pthread_mutex_unlock(&two.lock);
  current = &one;
  pthread_mutex_lock(&two.lock);
}
int main(void) {
  struct cursor c = {&one};
  pthread_mutex_lock(&two.lock);
  by_global();
  show();
  by_member(&c);
  show();
  by_wrapper();
  show();
  by_wrapper_and_callee();
  show();
  c.at = &one;
  by_alias(&c);
  show();
  return 0;
}
