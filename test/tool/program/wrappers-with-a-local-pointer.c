// SPDX-License-Identifier: MIT
// A lock wrapper may give its parameter another name first. Its callers have sections: where the name
// has another type, as that of a handle has, the wrapper's companion runs them. Where the pointer may
// be another one, its callers' sections are not known.
// RUN: %verdicts %s | FileCheck %s --implicit-check-not=tested-result
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// TEXT: relock_execute_any_thread(&q->lock, same_section,
// TEXT: relock_execute_any_thread(&q->lock, compared_section,
// TEXT: execute_handle(q, handle_section,
#include <pthread.h>
#include <stddef.h>
struct queue {
  pthread_mutex_t lock;
  int length;
};
static struct queue spare = {PTHREAD_MUTEX_INITIALIZER, 0};

static void lock_same(struct queue *given) {
  struct queue *q = given;
  pthread_mutex_lock(&q->lock);
}
static void unlock_same(struct queue *given) {
  struct queue *const q = given;
  pthread_mutex_unlock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_same

#define SAME_TYPE(type, pointer) ((void)sizeof((pointer) == (type)(pointer)), (type)(pointer))
static void lock_compared(struct queue *given) {
  struct queue *q = SAME_TYPE(struct queue *, given);
  pthread_mutex_lock(&q->lock);
}
static void unlock_compared(struct queue *given) {
  struct queue *q = SAME_TYPE(struct queue *, given);
  pthread_mutex_unlock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_compared

static void lock_handle(void *handle) {
  struct queue *q = handle;
  pthread_mutex_lock(&q->lock);
}
static void unlock_handle(void *handle) {
  struct queue *q = handle;
  pthread_mutex_unlock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_handle

// The wrapper may have the last use of the function, which would be unused without it.
static int check(void) { return 0; }
static void lock_checked(struct queue *q) {
  __attribute__((unused)) int (*first)(void) = check;
  pthread_mutex_lock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_checked

static void lock_assigned(struct queue *given) {
  struct queue *q = given;
  if (!q->length)
    q = &spare;
  pthread_mutex_lock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_assigned

static void replace(struct queue **q) { *q = &spare; }
static void lock_replaced(struct queue *given) {
  struct queue *q = given;
  replace(&q);
  pthread_mutex_lock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_replaced

static void lock_parameter(struct queue *given) {
  struct queue *q = given;
  given = &spare;
  pthread_mutex_lock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_parameter

static void lock_static(struct queue *given) {
  static struct queue *q = &spare;
  (void)given;
  pthread_mutex_lock(&q->lock);
}
// CHECK-DAG: hold cross-function lock_static

void same(struct queue *q) {
  lock_same(q);
  q->length++;
  unlock_same(q);
}
// CHECK-DAG: delegate straight same

void compared(struct queue *q) {
  lock_compared(q);
  q->length++;
  unlock_compared(q);
}
// CHECK-DAG: delegate straight compared

void handle(struct queue *q) {
  lock_handle(q);
  q->length++;
  unlock_handle(q);
}
// CHECK-DAG: delegate straight handle

void checked(struct queue *q) {
  lock_checked(q);
  q->length++;
  unlock_same(q);
}
// CHECK-DAG: delegate straight checked

void unlike(struct queue *q) {
  lock_assigned(q);
  lock_replaced(q);
  lock_parameter(q);
  lock_static(q);
  q->length++;
}

// CHECK-DAG: 12 lock sites: 4 delegate, 8 hold

int main(void) {
  same(&spare);
  compared(&spare);
  handle(&spare);
  return spare.length == 3 ? 0 : 1;
}
