// SPDX-License-Identifier: MIT
// A struct, an array or a variable whose address is taken keeps its place while the section waits: it is
// a field of the context.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct pop_section {
// CHECK-NEXT:   struct queue *q;
// CHECK-NEXT:   int *item;
// CHECK-NEXT:   struct timespec until;
// CHECK-NEXT:   int seen[2];
// CHECK-NEXT:   int count;
// CHECK-NEXT:   int *where;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:          section->until = (struct timespec){4000000000, 0};
// CHECK-NEXT:     section->seen[0] = section->seen[1] = 0;
// CHECK-NEXT:     while (q->put == q->taken) {
// CHECK-NEXT:       section->count = 0;
// CHECK-NEXT:       section->where = &section->count;
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &q->not_empty, &section->until, 1);
// CHECK-NEXT:       if (section->resume.error == ETIMEDOUT)
// CHECK-NEXT:         break;
// CHECK-NEXT:       section->seen[sizeof section->seen / sizeof(int) - 1] += ++*section->where;
// CHECK-NEXT:     }
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
  int item = -1;
  pthread_mutex_lock(&q->lock);
  struct timespec until = {4000000000, 0};
  int seen[2];
  seen[0] = seen[1] = 0;
  while (q->put == q->taken) {
    int count = 0, *where = &count;
    if (pthread_cond_timedwait(&q->not_empty, &q->lock, &until) == ETIMEDOUT)
      break;
    seen[sizeof seen / sizeof(int) - 1] += ++*where;
  }
  if (seen[0] == 0)
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
