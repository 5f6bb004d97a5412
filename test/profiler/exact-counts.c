// SPDX-License-Identifier: MIT
// Every acquisition is counted, under the name of the declaration.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("alone")["acquisitions"] == 3 * 997' \
// RUN:   'lock("row")["acquisitions"] == 3 * 991 and lock("row")["objects"] == 5' \
// RUN:   '{l["name"]: l["acquisitions"] for l in lock("row")["locks"]}["row[4]"] == 3 * 198' \
// RUN:   'lock("pool.lock")["acquisitions"] == 3 * 983' \
// RUN:   'lock("work.inner")["acquisitions"] == 3 * 977' \
// RUN:   'lock("queue.lock")["acquisitions"] == 3 * 971' \
// RUN:   'lock("queue.lock")["objects"] == 2' \
// RUN:   'all(c["hold"]["count"] == c["acquisitions"] for c in profile["classes"])' \
// RUN:   'profile["threads"] == 4' \
// RUN:   'not any(profile["dropped"].values())'
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t row[5];
struct pool {
  int size;
  pthread_mutex_t lock;
} pools[3];
struct queue {
  void *head;
  pthread_mutex_t lock;
};
static struct queue *queues[2];

static __attribute__((noinline)) struct queue *make(void) {
  struct queue *queue = calloc(1, sizeof *queue);
  pthread_mutex_init(&queue->lock, NULL);
  return queue;
}

static void visit(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

static void *work(void *argument) {
  static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 997; i++)
    visit(&alone);
  for (int i = 0; i < 991; i++)
    visit(&row[i % 5]);
  for (int i = 0; i < 983; i++)
    visit(&pools[i % 3].lock);
  for (int i = 0; i < 977; i++)
    visit(&inner);
  for (int i = 0; i < 971; i++)
    visit(&queues[i % 2]->lock);
  return argument;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 5; i++)
    pthread_mutex_init(&row[i], NULL);
  for (int i = 0; i < 2; i++)
    queues[i] = make();
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
