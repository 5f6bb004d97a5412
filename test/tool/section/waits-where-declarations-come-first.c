// SPDX-License-Identifier: MIT
// Where declarations precede statements, a declaration of a local that lives across a wait takes those
// behind it along, and the context stands in a block of its own.
// RUN: %check_rewrite %s --flags=-Wdeclaration-after-statement --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s -- -Wdeclaration-after-statement | FileCheck %s
// CHECK:            section->mask = 3;
// CHECK-NEXT:       section->size = section->mask + 1;
// CHECK-NEXT:       q->put += section->size - 4;
// CHECK-NEXT:       while (q->put == q->taken)
// CHECK-NEXT:         RELOCK_COND_WAIT(&section->resume, &q->not_empty, 1);
// CHECK-NEXT:       *section->item = q->item[q->taken++ & section->mask];
// CHECK:        int item;
// CHECK-NEXT:   {
// CHECK-NEXT:     struct pop_section section = {.q = q, .item = &item};
// CHECK-NEXT:     relock_execute_resumable_any_thread(&q->lock, pop_section, &section,
// CHECK-NEXT:         &section.resume);
// CHECK-NEXT:   }
// CHECK-NEXT:   return item;
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
  {
    unsigned mask = 3;
    unsigned size = mask + 1;
    q->put += size - 4;
    while (q->put == q->taken)
      pthread_cond_wait(&q->not_empty, &q->lock);
    item = q->item[q->taken++ & mask];
    pthread_cond_signal(&q->not_full);
  }
  pthread_mutex_unlock(&q->lock);
  return item;
}

static void *producer(void *unused) {
  int i;
  for (i = 0; i < 1000; i++)
    push(&queue, i);
  return unused;
}

int main(void) {
  pthread_t thread[2];
  long sum = 0;
  int i;
  for (i = 0; i < 2; i++)
    pthread_create(&thread[i], NULL, producer, NULL);
  for (i = 0; i < 2000; i++)
    sum += pop(&queue);
  for (i = 0; i < 2; i++)
    pthread_join(thread[i], NULL);
  printf("%ld\n", sum);
  return 0;
}
