// SPDX-License-Identifier: MIT
// A goto back to a wait, and one to the last unlock, whose label stands behind the switch.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int pop_section(
// CHECK:        case 0:
// CHECK-NEXT: again:
// CHECK-NEXT:     if (q->put == q->taken) {
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &q->not_empty, 1);
// CHECK-NEXT:       goto again;
// CHECK-NEXT:     }
// CHECK-NEXT:     *section->item = q->item[q->taken++ % 4];
// CHECK-NEXT:     if (q->put - q->taken > 3)
// CHECK-NEXT:       goto out;
// CHECK-NEXT:     relock_cond_signal(&q->not_full);
// CHECK-NEXT:   }
// CHECK-NEXT: out:
// CHECK-NEXT:   return 0;
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
  int item;
  pthread_mutex_lock(&q->lock);
again:
  if (q->put == q->taken) {
    pthread_cond_wait(&q->not_empty, &q->lock);
    goto again;
  }
  item = q->item[q->taken++ % 4];
  if (q->put - q->taken > 3)
    goto out;
  pthread_cond_signal(&q->not_full);
out:
  pthread_mutex_unlock(&q->lock);
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
