// SPDX-License-Identifier: MIT
// A function that does nothing but to wait is a wait at its callers: with the result dropped, asserted,
// or handed on, with the condition and the mutex from one parameter or from two.
// RUN: %check_rewrite %s --algorithms=adaptive,posix,ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-DNDEBUG
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// CHECK:      static int put_section(
// CHECK:          while (q->count == 4)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &q->not_full.cond, 1);
// CHECK:      static int get_section(
// CHECK:          while (!q->count && !late) {
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &q->not_empty.cond, section->until,
// CHECK-NEXT:           1);
// CHECK-NEXT:       late = section->resume.error != 0;
// CHECK:      static int drain_section(
// CHECK:            RELOCK_COND_WAIT(&section->resume, &q->idle, 1);
// VERDICT:      hold straight counted
// VERDICT-NEXT: 'wait_and_count' waits on a condition variable [may-block]
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

typedef struct {
  pthread_cond_t cond;
} condition;

struct queue {
  pthread_mutex_t lock;
  condition not_empty, not_full;
  pthread_cond_t idle;
  int item[4], count, waits;
};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .not_empty = {PTHREAD_COND_INITIALIZER},
                             .not_full = {PTHREAD_COND_INITIALIZER},
                             .idle = PTHREAD_COND_INITIALIZER};

static inline void wait_for(condition *c, pthread_mutex_t *m) {
  int ret = pthread_cond_wait(&c->cond, m);
  assert(ret == 0);
  (void)ret;
}

static inline int wait_until(condition *c, pthread_mutex_t *m, const struct timespec *until) {
  int ret = pthread_cond_timedwait(&c->cond, m, until);
  assert(ret == 0 || ret == ETIMEDOUT);
  return ret;
}

static void wait_idle(struct queue *q) {
  if (pthread_cond_wait(&q->idle, &q->lock) != 0)
    perror("wait");
}

static void wait_and_count(struct queue *q) {
  q->waits++;
  pthread_cond_wait(&q->idle, &q->lock);
}

static void put(struct queue *q, int item) {
  pthread_mutex_lock(&q->lock);
  while (q->count == 4)
    wait_for(&q->not_full, &q->lock);
  q->item[q->count++] = item;
  pthread_cond_signal(&q->not_empty.cond);
  pthread_mutex_unlock(&q->lock);
}

static int get(struct queue *q, const struct timespec *until) {
  int item = -1;
  bool late = false;
  pthread_mutex_lock(&q->lock);
  while (!q->count && !late) {
    late = wait_until(&q->not_empty, &q->lock, until) != 0;
  }
  if (q->count)
    item = q->item[--q->count];
  if (!q->count)
    pthread_cond_broadcast(&q->idle);
  pthread_cond_signal(&q->not_full.cond);
  pthread_mutex_unlock(&q->lock);
  return item;
}

static void drain(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  while (q->count)
    wait_idle(q);
  pthread_mutex_unlock(&q->lock);
}

static void counted(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  while (q->count)
    wait_and_count(q);
  pthread_mutex_unlock(&q->lock);
}

static void *produce(void *unused) {
  for (int i = 1; i <= 500; i++)
    put(&queue, i);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  struct timespec past = {1, 0}, far;
  clock_gettime(CLOCK_REALTIME, &far);
  far.tv_sec += 100;
  long sum = get(&queue, &past);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, produce, NULL);
  for (int i = 0; i < 1000; i++)
    sum += get(&queue, &far);
  drain(&queue), counted(&queue);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
