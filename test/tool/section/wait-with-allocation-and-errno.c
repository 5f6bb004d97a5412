// SPDX-License-Identifier: MIT
// A waiting section that allocates and sets errno does so for its client, before and behind the wait.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      relock_execute_resumable(&q->lock, pop_section, &section, &section.resume);
#include <stdlib.h>

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
  errno = 0;
  pthread_mutex_lock(&q->lock);
  int *copy = malloc(sizeof *copy);
  errno = EAGAIN;
  while (q->put == q->taken) {
    errno = EBUSY;
    pthread_cond_wait(&q->not_empty, &q->lock);
  }
  *copy = q->item[q->taken++ % 4];
  item = *copy + (errno == EAGAIN || errno == EBUSY ? 0 : 1000000);
  free(copy);
  errno = ENOENT;
  pthread_cond_signal(&q->not_full);
  pthread_mutex_unlock(&q->lock);
  return errno == ENOENT ? item : -1000000;
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
