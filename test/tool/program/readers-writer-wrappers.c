// SPDX-License-Identifier: MIT
// Functions of the program that only hand a readers-writer lock to its operation, to any depth, are
// operations of that lock: a section may take it through them, and has to release it.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  delegate straight through_pure
// CHECK-DAG:  delegate straight through_layers
// CHECK-DAG:  delegate straight through_aborting
// CHECK-DAG:  delegate straight through_one_that_returns_more
// What they return tells of a failure where it is what the operation returned, and only there.
// CHECK-DAG:  delegate straight result_tested
// CHECK-DAG:  delegate straight other_result_tested
// CHECK-DAG:  hold straight waits_under_it
// CHECK-DAG:  takes 'store.both', whose holder may wait here for other threads [lock-order]
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct store {
  pthread_rwlock_t lock, both;
  int value;
};

static struct store store = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER, 1};
static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static int config = 2, total;
static sem_t ready;

static int read_lock(pthread_rwlock_t *lock, int line) {
  (void)line;
  return pthread_rwlock_rdlock(lock);
}
static void unlock(pthread_rwlock_t *lock, int line) {
  (void)line;
  pthread_rwlock_unlock(lock);
}
static void store_lock(struct store *s) {
  read_lock(&s->lock, __LINE__);
}
static void store_unlock(struct store *s) {
  unlock(&s->lock, __LINE__);
}
static void store_unlock_both(struct store *s) {
  unlock(&s->both, __LINE__);
}
static void lock_or_die(struct store *s) {
  int error = pthread_rwlock_wrlock(&s->lock);
  if (error != 0)
    abort();
}
static int *get_config(void) {
  pthread_rwlock_rdlock(&config_lock);
  return &config;
}
static void release_config(void) {
  pthread_rwlock_unlock(&config_lock);
}
static void lock_both(struct store *s) {
  pthread_rwlock_wrlock(&s->both);
}
static void through_pure(void) {
  pthread_mutex_lock(&mutex);
  read_lock(&store.lock, 1);
  total += store.value;
  unlock(&store.lock, 2);
  pthread_mutex_unlock(&mutex);
}

static void through_layers(struct store *s) {
  pthread_mutex_lock(&mutex);
  store_lock(s);
  total += s->value;
  store_unlock(s);
  pthread_mutex_unlock(&mutex);
}

static void through_aborting(struct store *s) {
  pthread_mutex_lock(&mutex);
  lock_or_die(s);
  total += s->value;
  store_unlock(s);
  pthread_mutex_unlock(&mutex);
}

static void through_one_that_returns_more(void) {
  pthread_mutex_lock(&mutex);
  int *c = get_config();
  if (c)
    total += *c;
  release_config();
  pthread_mutex_unlock(&mutex);
}

static void result_tested(void) {
  pthread_mutex_lock(&mutex);
  if (read_lock(&store.lock, 3) == 0) {
    total += store.value;
    unlock(&store.lock, 4);
  }
  pthread_mutex_unlock(&mutex);
}

static void other_result_tested(void) {
  pthread_mutex_lock(&mutex);
  if (get_config() != NULL)
    total++;
  release_config();
  pthread_mutex_unlock(&mutex);
}

static void waits_under_it(struct store *s) {
  pthread_mutex_lock(&waiting);
  lock_both(s);
  total++;
  store_unlock_both(s);
  pthread_mutex_unlock(&waiting);
}

static void holder(struct store *s) {
  lock_both(s);
  sem_wait(&ready);
  store_unlock_both(s);
}

int main(void) {
  sem_init(&ready, 0, 1);
  through_pure();
  through_layers(&store);
  through_aborting(&store);
  through_one_that_returns_more();
  result_tested();
  other_result_tested();
  waits_under_it(&store);
  holder(&store);
  printf("%d\n", total);
  return 0;
}
