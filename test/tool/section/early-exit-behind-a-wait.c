// SPDX-License-Identifier: MIT
// An unlock in a branch behind a wait is an exit of the resumed section.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:        while (queue_is_empty(q)) {
// CHECK-NEXT:       if (q->put == 2000) {
// CHECK-NEXT:         return 1;
// CHECK-NEXT:       }
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &q->not_empty, 1);
// CHECK-NEXT:       if (q->put > 3000) {
// CHECK-NEXT:         return 2;
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK:        int taken_2 = relock_execute_resumable_any_thread(&q->lock, pop_section,
// CHECK-NEXT:       &section, &section.resume);
// CHECK-NEXT:   if (taken_2 == 1) {
// CHECK-NEXT:     return -1;
// CHECK-NEXT:   }
// CHECK-NEXT:   if (taken_2 == 2) {
// CHECK-NEXT:     puts("too many");
// CHECK-NEXT:     return -2;
// CHECK-NEXT:   }
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

static int queue_is_empty(const struct queue *q) { return q->put == q->taken; }

static int pop(struct queue *q) {
  int item;
  pthread_mutex_lock(&q->lock);
  while (queue_is_empty(q)) {
    if (q->put == 2000) {
      pthread_mutex_unlock(&q->lock);
      return -1;
    }
    pthread_cond_wait(&q->not_empty, &q->lock);
    if (q->put > 3000) {
      pthread_mutex_unlock(&q->lock);
      puts("too many");
      return -2;
    }
  }
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
