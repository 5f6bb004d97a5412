// SPDX-License-Identifier: MIT
// A pointer to a condition variable of which only the section speaks moves there with its declaration,
// whose type is converted; beside it, one that stays.
// RUN: %check_rewrite %s --algorithms=adaptive,posix,ccsynch,rcl
// RUN: %rewritten %s 2>&1 | FileCheck %s --implicit-check-not=not-rewritten
// CHECK:      static int finish_section(void *context) {
// CHECK:        relock_cond_t *ready;
// CHECK:      static void finish(struct track *t) {
// CHECK-NEXT:   relock_execute_any_thread(&t->lock, finish_section, t);
// CHECK-NEXT: }
// CHECK:      static int finish_other_section(void *context) {
// CHECK:        relock_cond_t *ready;
// CHECK:      static relock_cond_t *finish_other(struct track *t) {
// CHECK-NEXT:   relock_cond_t *other = t->ready;
// CHECK-EMPTY:
// CHECK-NEXT:   relock_execute_any_thread(
#include <pthread.h>
#include <stdio.h>

struct track {
  pthread_mutex_t lock;
  pthread_cond_t *ready;
  int n;
};

static void finish(struct track *t) {
  pthread_cond_t *ready;

  pthread_mutex_lock(&t->lock);
  t->n--;
  if (!t->n && t->ready) {
    ready = t->ready;
    t->ready = NULL;
    pthread_cond_signal(ready);
  }
  pthread_mutex_unlock(&t->lock);
}

static pthread_cond_t *finish_other(struct track *t) {
  pthread_cond_t *ready, *other = t->ready;

  pthread_mutex_lock(&t->lock);
  ready = t->ready;
  if (ready)
    pthread_cond_signal(ready);
  pthread_mutex_unlock(&t->lock);
  return other;
}

static void *thread(void *argument) {
  finish(argument);
  return NULL;
}

int main(void) {
  pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
  struct track track = {PTHREAD_MUTEX_INITIALIZER, &ready, 1};
  pthread_t t;
  pthread_create(&t, NULL, thread, &track);
  pthread_mutex_lock(&track.lock);
  while (track.n)
    pthread_cond_wait(&ready, &track.lock);
  pthread_mutex_unlock(&track.lock);
  pthread_join(t, NULL);
  printf("%d %d\n", track.n, finish_other(&track) == NULL);
  return 0;
}
