// SPDX-License-Identifier: MIT
// Fields are named by the struct's tag, by the typedef of an anonymous struct, and by the
// outer struct of an anonymous one; two fields of one declaration change together.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=NAMES
// CHECK:        relock_mutex_t head_lock, tail_lock;
// CHECK:      typedef struct {
// CHECK-NEXT:   relock_mutex_t lock;
// CHECK:          relock_mutex_t inner;
// CHECK:      } queue_t;
// CHECK:        relock_mutex_init(&q->lock, NULL, RELOCK_CLASS(queue_t_lock));
// CHECK-NEXT:   relock_mutex_init(&q->inner, NULL, RELOCK_CLASS(queue_t_inner));
// CHECK:        relock_mutex_destroy(&q->lock);
// CHECK-NEXT:   relock_mutex_destroy(&q->inner);
// NAMES:      list.head_lock (struct-fields.c:[[#]]): convert
// NAMES:      queue_t.inner (struct-fields.c:[[#]]): convert
// NAMES:      queue_t.lock (struct-fields.c:[[#]]): convert
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct list {
  int head, tail;
  pthread_mutex_t head_lock, tail_lock;
};
typedef struct {
  pthread_mutex_t lock;
  struct {
    pthread_mutex_t inner;
    int used;
  };
} queue_t;

static struct list list;

static void init(queue_t *q) {
  memset(q, 0, sizeof(*q));
  pthread_mutex_init(&q->lock, NULL);
  pthread_mutex_init(&q->inner, NULL);
}

static void destroy(queue_t *q) {
  pthread_mutex_destroy(&q->lock);
  pthread_mutex_destroy(&q->inner);
}

static void use(queue_t *q) {
  pthread_mutex_lock(&q->lock);
  q->used++;
  pthread_mutex_unlock(&q->lock);
  pthread_mutex_lock(&q->inner);
  q->used++;
  pthread_mutex_unlock(&q->inner);
}

static void extend(int by) {
  pthread_mutex_lock(&list.head_lock);
  list.head += by;
  pthread_mutex_unlock(&list.head_lock);
  pthread_mutex_lock(&list.tail_lock);
  list.tail += by;
  pthread_mutex_unlock(&list.tail_lock);
}

int main(void) {
  queue_t queue;
  init(&queue);
  use(&queue);
  extend(2);
  printf("%d %d %d\n", queue.used, list.head, list.tail);
  destroy(&queue);
  return 0;
}
