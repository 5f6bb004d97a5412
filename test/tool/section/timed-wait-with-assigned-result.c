// SPDX-License-Identifier: MIT
// The result of a timed wait is in the resume record behind it; two statements in place of one get
// braces.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:          while (q->put == q->taken && *section->rc == 0) {
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &q->not_empty, section->until, 1);
// CHECK-NEXT:       *section->rc = section->resume.error;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (q->put != q->taken) {
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
  int item[4];
  unsigned taken, put;
};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .not_empty = PTHREAD_COND_INITIALIZER,
                             .not_full = PTHREAD_COND_INITIALIZER};

static void push(struct queue *q, int item) {
  pthread_mutex_lock(&q->lock);
  while (q->put - q->taken == 4)
    pthread_cond_wait(&q->not_full, &q->lock);
  q->item[q->put++ % 4] = item;
  pthread_cond_signal(&q->not_empty);
  pthread_mutex_unlock(&q->lock);
}

static int pop(struct queue *q) {
  int item = -1, rc = 0;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 100;
  pthread_mutex_lock(&q->lock);
  while (q->put == q->taken && rc == 0)
    rc = pthread_cond_timedwait(&q->not_empty, &q->lock, &until);
  if (q->put != q->taken) {
    item = q->item[q->taken++ % 4];
    pthread_cond_signal(&q->not_full);
  }
  pthread_mutex_unlock(&q->lock);
  return rc == ETIMEDOUT ? -1 : item;
}

static void *producer(void *unused) {
  for (int i = 0; i < 1000; i++)
    push(&queue, i);
  return unused;
}

int main(void) {
  pthread_t thread[2];
  long sum = 0;
  for (int i = 0; i < 2; i++)
    pthread_create(&thread[i], NULL, producer, NULL);
  for (int i = 0; i < 2000; i++)
    sum += pop(&queue);
  for (int i = 0; i < 2; i++)
    pthread_join(thread[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
