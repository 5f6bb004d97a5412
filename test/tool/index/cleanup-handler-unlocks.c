// SPDX-License-Identifier: MIT
// pthread_cleanup_push() gets the unlock function itself, or one of the program's: the name changes
// with the lock. A section ends at a pop that runs the handler.
// RUN: %check_rewrite %s --algorithms=adaptive,ccsynch,rcl
// RUN: %check_rewrite %s --algorithms=ccsynch --flags=-fexceptions
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight put (
// CHECK:      delegate waiting get (
// CHECK:      hold straight look (
// CHECK:      delegate straight add (
// CHECK:      delegate straight both (
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct queue { pthread_mutex_t mutex; pthread_cond_t filled; int n; };
static struct queue *queue;
static void unlock(void *arg) { pthread_mutex_unlock(arg); }
static void typed(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static void put(int n) {
  pthread_cleanup_push((void *) pthread_mutex_unlock, &queue->mutex);
  pthread_mutex_lock(&queue->mutex);
  queue->n += n;
  pthread_cond_signal(&queue->filled);
  pthread_cleanup_pop(1);
}
static int get(void) {
  int n;
  pthread_mutex_lock(&queue->mutex);
  pthread_cleanup_push(unlock, &queue->mutex);
  while (!queue->n)
    pthread_cond_wait(&queue->filled, &queue->mutex);
  n = queue->n;
  queue->n = 0;
  pthread_cleanup_pop(1);
  return n;
}
static int look(void) {
  int n;
  pthread_mutex_lock(&queue->mutex);
  pthread_cleanup_push((void (*)(void *)) typed, &queue->mutex);
  n = queue->n;
  pthread_cleanup_pop(0);
  pthread_mutex_unlock(&queue->mutex);
  return n;
}
static void add(void) {
  pthread_mutex_lock(&queue->mutex);
  queue->n++;
  pthread_mutex_unlock(&queue->mutex);
}
static void both(void) {
  put(1);
  pthread_mutex_lock(&queue->mutex);
  queue->n++;
  pthread_mutex_unlock(&queue->mutex);
}
static void *waits(void *arg) { printf("got %d\n", get()); get(); return arg; }
int main(void) {
  pthread_t t;
  void *result;
  queue = calloc(1, sizeof *queue);
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->filled, NULL);
  both(); add();
  pthread_create(&t, NULL, waits, NULL);
  while (look()) ;
  pthread_cancel(t);
  pthread_join(t, &result);
  add();
  printf("%d %d\n", result == PTHREAD_CANCELED, look());
  return 0;
}
