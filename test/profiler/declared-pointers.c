// SPDX-License-Identifier: MIT
// A heap mutex of its own that a field points to has the field's name, as in `relock check`, by the
// call that initialises it; other structs may point to it. Where a mutex is only used through the
// pointer, the pointer does not tell whose it is, and the call is the name.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("queue.mutex")["acquisitions"] == 31 + 37 and lock("queue.mutex")["objects"] == 2' \
// RUN:   'lock("queue.mutex")["kind"] == "initialised" and lock("queue.mutex")["line"] == 18' \
// RUN:   'lock("pool.inner.mutex")["acquisitions"] == 41' \
// RUN:   '[c["acquisitions"] for c in profile["classes"] if "visit" in c["name"]] == [43]' \
// RUN:   'len(profile["classes"]) == 3'
#include <pthread.h>
#include <stdlib.h>

struct queue {
  int size;
  pthread_mutex_t *mutex;
};
struct pool {
  struct {
    pthread_mutex_t *mutex;
  } inner;
};

static __attribute__((noinline)) int set_up(pthread_mutex_t *mutex) {
  return pthread_mutex_init(mutex, NULL) + 1;
}

static __attribute__((noinline)) int visit(struct queue *queue, int times) {
  for (int i = 0; i < times; i++) {
    pthread_mutex_lock(queue->mutex);
    queue->size += i;
    pthread_mutex_unlock(queue->mutex);
  }
  return 1;
}

int main(void) {
  struct queue queues[3];
  struct pool *pool = calloc(1, sizeof *pool);
  for (int i = 0; i < 2; i++) {
    struct queue *queue = &queues[i];
    queue->mutex = malloc(sizeof *queue->mutex);
    if (pthread_mutex_init(queue->mutex, NULL) != 0)
      return 1;
    visit(queue, 31 * (i == 0));
  }
  queues[2].mutex = queues[1].mutex; /* a child of the queue */
  visit(&queues[2], 37);
  pool->inner.mutex = malloc(sizeof *pool->inner.mutex);
  set_up(pool->inner.mutex);
  queues[2].mutex = pool->inner.mutex;
  visit(&queues[2], 41);
  queues[2].mutex = calloc(1, sizeof *queues[2].mutex); /* as good as initialised, in Linux */
  visit(&queues[2], 43);
  return 0;
}
