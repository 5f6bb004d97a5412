// SPDX-License-Identifier: MIT
// A worker that waits, takes a job in a block of its own, unlocks there, works, and takes the lock
// again: the block's variables are declared before the call, and its rest follows it, with the next
// section. Where declarations come first, they stand behind those of the lock's block.
// RUN: %check_rewrite %s
// RUN: %check_rewrite %s --flags=-Wdeclaration-after-statement --algorithms=posix,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %rewritten %s -- -Wdeclaration-after-statement | FileCheck %s --check-prefix=FIRST
// CHECK:      static void *work(void *argument) {
// CHECK:        for (;;) {
// CHECK-NEXT:     struct job job;
// CHECK-NEXT:     int left;
// CHECK-NEXT:     struct work_section section = {.p = p, .job = &job, .left = &left};
// CHECK-NEXT:     if (relock_execute_resumable_any_thread(&p->lock, work_section, &section,
// CHECK-NEXT:             &section.resume)) {
// CHECK-NEXT:       return argument;
// CHECK-NEXT:     }
// CHECK-NEXT:     sum = job.function(job.value) + left;
// CHECK-NEXT:     struct work_section2 section2 = {.p = p, .sum = sum};
// CHECK-NEXT:     relock_execute_any_thread(&p->lock, work_section2, &section2);
// FIRST:        int n = 0;
// FIRST-NEXT:   int first;
// FIRST-NEXT:   int second;
// FIRST-NEXT:   n++;
// FIRST-NEXT:   {
// FIRST-NEXT:     struct both_section section = {.first = &first, .p = p, .second = &second};
// FIRST-NEXT:     relock_execute_any_thread(&p->lock, both_section, &section);
// FIRST-NEXT:     n += first + second;
// FIRST-NEXT:   }
#include <pthread.h>
#include <stdio.h>

struct job {
  int (*function)(int);
  int value;
};
struct pool {
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct job queue[4];
  int head, tail, end, total;
};
static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static int twice(int n) { return 2 * n; }

static void *work(void *argument) {
  struct pool *p = argument;
  int sum;
  for (;;) {
    pthread_mutex_lock(&p->lock);
    while (p->head == p->tail) {
      if (p->end) {
        pthread_mutex_unlock(&p->lock);
        return argument;
      }
      pthread_cond_wait(&p->more, &p->lock);
    }
    { /* take one */
      struct job const job = p->queue[p->head++ % 4];
      int left = p->tail - p->head;
      left = left > 0 ? 0 : -left;
      pthread_cond_broadcast(&p->more);
      pthread_mutex_unlock(&p->lock);
      sum = job.function(job.value) + left;
      pthread_mutex_lock(&p->lock);
      p->total += sum;
      pthread_mutex_unlock(&p->lock);
    }
  }
}

static void submit(struct pool *p, int value) {
  pthread_mutex_lock(&p->lock);
  while (p->tail - p->head == 4)
    pthread_cond_wait(&p->more, &p->lock);
  p->queue[p->tail++ % 4] = (struct job){twice, value};
  pthread_cond_broadcast(&p->more);
  pthread_mutex_unlock(&p->lock);
}

static int both(struct pool *p) {
  int n = 0;
  n++;
  pthread_mutex_lock(&p->lock);
  {
    int first = p->total;
    int second = p->tail;
    p->end = 1;
    pthread_mutex_unlock(&p->lock);
    n += first + second;
  }
  return n;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, &pool);
  for (int i = 0; i < 50; i++)
    submit(&pool, i);
  both(&pool);
  pthread_cond_broadcast(&pool.more);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", pool.total, both(&pool));
  return 0;
}
