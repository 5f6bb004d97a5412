// SPDX-License-Identifier: MIT
// A queue in the style of legacy C: lock macros over a field, a loop macro inside a section, an
// exit in an else branch, threads that push and pop.
// RUN: %check_rewrite %s --flags=-Wall
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight push (queue-with-macros.c:[[#]])
// CHECK:      delegate early-exit pop (queue-with-macros.c:[[#]])
// CHECK:      delegate straight sum (queue-with-macros.c:[[#]])
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct q { pthread_mutex_t lock; int items[8]; int head, count; };
static struct q *queues;
static int n_queues = 2;
#define QLOCK(q) pthread_mutex_lock(&(q)->lock)
#define QUNLOCK(q) pthread_mutex_unlock(&(q)->lock)
#define FOREACH(i, q) for (int i = 0; i < (q)->count; i++)
static int push(struct q *q, const int v[static 2]) {
  int ok = 1;
  QLOCK(q);
  for (int i = 0; i < 2; i++) {
    if (q->count == 8) { ok = 0; break; }
    q->items[(q->head + q->count++) % 8] = v[i];
  }
  QUNLOCK(q);
  return ok;
}
static int pop(struct q *q, int *out) {
  int n = 0;
  QLOCK(q);
  if (!q->count) {
    QUNLOCK(q);
    return 0;
  } else if (q->count > 100) {
    QUNLOCK(q);
    abort();
  }
  while (q->count > 0 && n < 2) {
    out[n++] = q->items[q->head];
    q->head = (q->head + 1) % 8, q->count--;
  }
  QUNLOCK(q);
  return n;
}
static long sum(void) {
  long s = 0;
  for (int k = 0; k < n_queues; k++) {
    struct q *q = &queues[k];
    QLOCK(q);
    FOREACH(i, q)
      s += q->items[(q->head + i) % 8];
    QUNLOCK(q);
  }
  return s;
}
static void *run(void *arg) {
  long got = 0;
  unsigned seed = (unsigned)(long)arg;
  for (int i = 0; i < 3000; i++) {
    int v[2] = {1, 2}, out[2] = {0, 0};
    struct q *q = &queues[rand_r(&seed) % 2];
    if (push(q, v))
      got += 3;
    int n = pop(q, out);
    for (int j = 0; j < n; j++)
      got -= out[j];
    while (n == 2 && (n = pop(q, out)) > 0)
      for (int j = 0; j < n; j++)
        got -= out[j];
  }
  return (void *)got;
}
int main(void) {
  pthread_t t[4];
  long total = 0;
  void *r;
  queues = calloc(2, sizeof *queues);
  for (int i = 0; i < 2; i++)
    pthread_mutex_init(&queues[i].lock, NULL);
  for (long i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, (void *)i);
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], &r);
    total += (long)r;
  }
  printf("%d\n", sum() >= 0 && total < 100000);
  free(queues);
  return 0;
}
