// SPDX-License-Identifier: MIT
// A cleanup handler may name the lock that it releases, or find it in the struct that it is given. Not
// another lock, and not one of a struct that the argument is not.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICTS
// CHECK:        pthread_cleanup_push(release_settings, NULL);
// CHECK-NEXT:   struct set_section section = {.to = to};
// CHECK-NEXT:   relock_execute_any_thread(&settings_mutex, set_section, &section);
// CHECK-NEXT:   pthread_cleanup_pop(0);
// CHECK:        pthread_cleanup_push(release_queue, q);
// CHECK-NEXT:   relock_execute_any_thread(&q->part.mutex, add_section, q);
// CHECK-NEXT:   pthread_cleanup_pop(0);
// VERDICTS-DAG: delegate straight set
// VERDICTS-DAG: delegate straight add
// VERDICTS-DAG: delegate straight add_first
// VERDICTS-DAG: hold cross-function set_other
// VERDICTS-DAG: hold cross-function add_wrong
// VERDICTS:     5 lock sites: 3 delegate, 2 hold
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t settings_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static int settings, others;

struct part {
  int n;
  pthread_mutex_t mutex;
};
struct queue {
  struct part part;
  int sum;
};
struct wrong {
  char before[64];
  struct part part;
};
static struct queue queue = {{0, PTHREAD_MUTEX_INITIALIZER}, 0};
static struct wrong wrong = {"", {0, PTHREAD_MUTEX_INITIALIZER}};

static void release_settings(void *unused) {
  (void)unused;
  pthread_mutex_unlock(&settings_mutex);
}
static void release_queue(void *argument) {
  struct queue *q = argument;
  pthread_mutex_unlock(&q->part.mutex);
}
static void release_wrong(void *argument) {
  pthread_mutex_unlock(&((struct wrong *)argument)->part.mutex);
}

static void set(int to) {
  pthread_mutex_lock(&settings_mutex);
  pthread_cleanup_push(release_settings, NULL);
  settings = to;
  pthread_cleanup_pop(1);
}
static void add(struct queue *q) {
  pthread_mutex_lock(&q->part.mutex);
  pthread_cleanup_push(release_queue, q);
  q->sum++;
  pthread_cleanup_pop(1);
}
static void add_first(void) {
  pthread_mutex_lock(&queue.part.mutex);
  pthread_cleanup_push(release_queue, &queue);
  queue.sum += 2;
  pthread_cleanup_pop(1);
}
static void set_other(int to) {
  pthread_mutex_lock(&other_mutex);
  pthread_cleanup_push(release_settings, NULL);
  others = to;
  pthread_cleanup_pop(1);
}
static void add_wrong(struct queue *q) {
  pthread_mutex_lock(&q->part.mutex);
  pthread_cleanup_push(release_wrong, q);
  q->sum += 4;
  pthread_cleanup_pop(1);
}

int main(void) {
  set(3);
  add(&queue);
  add_first();
  if (queue.sum > 100) {
    set_other(5);
    add_wrong(&queue);
    release_wrong(&wrong);
  }
  printf("%d %d %d\n", settings, queue.sum, others);
  return 0;
}
