// SPDX-License-Identifier: MIT
// Waits that a macro names, or of which it makes the whole statement; a condition variable that a macro
// names.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int push_section(
// CHECK:        struct queue *q = section->q;
// CHECK:            RELOCK_COND_WAIT(&section->resume, &q->not_full, 1);
// CHECK:      static int pop_section(
// CHECK:            RELOCK_COND_WAIT(&section->resume, EMPTY(q), 1);
// CHECK-NEXT:       q->waits++;
// CHECK:          while (q->put < q->taken) {
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &q->not_full, section->until, 2);
// CHECK-NEXT:       if (section->resume.error)
// CHECK-NEXT:         break;
// CHECK-NEXT:     }
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define LOCK(q) pthread_mutex_lock(&(q)->lock)
#define UNLOCK(q) pthread_mutex_unlock(&(q)->lock)
#define WAIT(q, c) do { pthread_cond_wait(&(q)->c, &(q)->lock); } while (0)
#define EMPTY(q) (&(q)->not_empty)
#define cond_wait pthread_cond_wait
#define TIMED(q, t) pthread_cond_timedwait(&(q)->not_full, &(q)->lock, t)

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
  int item[4];
  unsigned taken, put, waits;
};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
                             .not_empty = PTHREAD_COND_INITIALIZER,
                             .not_full = PTHREAD_COND_INITIALIZER};

static void push(struct queue *q, int item) {
  LOCK(q);
  while (q->put - q->taken == 4)
    WAIT(q, not_full);
  q->item[q->put++ % 4] = item;
  pthread_cond_signal(&q->not_empty);
  UNLOCK(q);
}

static int pop(struct queue *q) {
  int item;
  struct timespec until = {1, 0};
  LOCK(q);
  while (q->put == q->taken) {
    cond_wait(EMPTY(q), &q->lock);
    q->waits++;
  }
  while (q->put < q->taken)
    if (TIMED(q, &until))
      break;
  item = q->item[q->taken++ % 4];
  pthread_cond_signal(&q->not_full);
  UNLOCK(q);
  return item;
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
