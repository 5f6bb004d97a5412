// SPDX-License-Identifier: MIT
// `&(&q->base)->lock`, which macros make of their arguments, is the operand `&q->base.lock`; not so
// where a cast stands between.
// RUN: %check_rewrite %s --algorithms=adaptive,posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate waiting wait_active
// CHECK-NEXT: delegate straight wake
// CHECK-NEXT: delegate straight back
// CHECK:      hold {{ *}}cross-function through_a_cast
#include <pthread.h>
#include <stdio.h>

struct base {
  int rank;
  pthread_mutex_t lock;
};
struct queue {
  struct base base;
  pthread_cond_t ready;
  int active, n;
};
struct view {
  int rank;
  pthread_mutex_t lock;
};
#define BASE_LOCK(b) pthread_mutex_lock(&(b)->lock)
#define BASE_UNLOCK(b) pthread_mutex_unlock(&(b)->lock)
#define BASE_WAIT(c, b) pthread_cond_wait(c, &(b)->lock)

static struct queue queue = {{1, PTHREAD_MUTEX_INITIALIZER}, PTHREAD_COND_INITIALIZER, 1, 0};

static int wait_active(struct queue *q) {
  int n;
  BASE_LOCK(&q->base);
  while (q->active)
    BASE_WAIT(&q->ready, &q->base);
  n = q->n;
  pthread_mutex_unlock(&q->base.lock);
  return n;
}
static void wake(struct queue *q) {
  pthread_mutex_lock(&q->base.lock);
  q->active = 0;
  pthread_cond_signal(&q->ready);
  BASE_UNLOCK(&q->base);
}
static void back(struct queue *q) {
  BASE_LOCK(&(*q).base);
  q->n++;
  pthread_mutex_unlock(&q->base.lock);
}
static void through_a_cast(struct queue *q) {
  pthread_mutex_lock(&((struct view *)&q->base)->lock);
  q->n++;
  pthread_mutex_unlock(&q->base.lock);
}
static void *thread(void *argument) {
  (void)argument;
  back(&queue);
  wake(&queue);
  return NULL;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  int n = wait_active(&queue);
  pthread_join(t, NULL);
  through_a_cast(&queue);
  printf("%d %d\n", n, queue.n);
  return 0;
}
