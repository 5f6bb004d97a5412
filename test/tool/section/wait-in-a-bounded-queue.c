// SPDX-License-Identifier: MIT
// A section that waits in its predicate loop becomes a switch over the wait; what it captures is read
// again on each entry.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct push_section {
// CHECK-NEXT:   struct queue *q;
// CHECK-NEXT:   int item;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:        struct push_section *section = context;
// CHECK-NEXT:   struct queue *q = section->q;
// CHECK-EMPTY:
// CHECK-NEXT:   switch (section->resume.at) {
// CHECK-NEXT:   case 0:
// CHECK-NEXT:     while (q->put - q->taken == 4)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &q->not_full, 1);
// CHECK-NEXT:     q->item[q->put++ % 4] = section->item;
// CHECK-NEXT:     relock_cond_signal(&q->not_empty);
// CHECK-NEXT:   }
// CHECK-NEXT:   return 0;
// CHECK:        struct push_section section = {.q = q, .item = item};
// CHECK-NEXT:   relock_execute_resumable_any_thread(&q->lock, push_section, &section,
// CHECK-NEXT:       &section.resume);
// CHECK:          *section->item = q->item[q->taken++ % 4];
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
  while (q->put == q->taken)
    pthread_cond_wait(&q->not_empty, &q->lock);
  item = q->item[q->taken++ % 4];
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
