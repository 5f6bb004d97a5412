// SPDX-License-Identifier: MIT
// Locals whose values are needed behind a wait are fields of the context, wherever they are declared;
// the others stay locals.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct pop_section {
// CHECK-NEXT:   struct queue *q;
// CHECK-NEXT:   int *item;
// CHECK-NEXT:   int i;
// CHECK-NEXT:   unsigned int before;
// CHECK-NEXT:   int turns;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:      static int pop_section(
// CHECK:        case 0:
// CHECK-NEXT:     section->turns = 0;
// CHECK-NEXT:     for (section->i = 0; section->i < 2; section->i++)
// CHECK-NEXT:       while (q->put == q->taken) {
// CHECK-NEXT:         section->before = q->put;
// CHECK-NEXT:         RELOCK_COND_WAIT(&section->resume, &q->not_empty, 1);
// CHECK-NEXT:         unsigned after = q->put;
// CHECK-NEXT:         if (after < section->before)
// CHECK-NEXT:           section->turns = -1;
// CHECK-NEXT:       }
// CHECK-NEXT:     *section->item = section->turns < 0 ? -1 : q->item[q->taken++ % 4];
// CHECK:      static int pop(struct queue *q) {
// CHECK-NEXT:   int item;
// CHECK-NEXT:   struct pop_section section = {.q = q, .item = &item};
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
  int item, turns;
  pthread_mutex_lock(&q->lock);
  turns = 0;
  for (int i = 0; i < 2; i++)
    while (q->put == q->taken) {
      unsigned before = q->put;
      pthread_cond_wait(&q->not_empty, &q->lock);
      unsigned after = q->put;
      if (after < before)
        turns = -1;
    }
  item = turns < 0 ? -1 : q->item[q->taken++ % 4];
  pthread_cond_signal(&q->not_full);
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
