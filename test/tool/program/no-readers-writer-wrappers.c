// SPDX-License-Identifier: MIT
// What is no operation of a readers-writer lock though it takes one: a function that may leave
// before that, that tells of it in its own terms, that takes another one than that of its parameter,
// or whose address is taken. A struct may have several locks, and a section may keep one.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  hold nested other_member
// CHECK-DAG:  hold nested may_not_take
// CHECK-DAG:  hold nested own_terms
// CHECK-DAG:  hold nested another
// CHECK-DAG:  hold nested through_pointer
// CHECK-DAG:  hold nested kept
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct store {
  pthread_rwlock_t lock, both;
  int value;
};

static struct store store = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER, 1};
static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int config = 2, total;

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
static void release_config(void) {
  pthread_rwlock_unlock(&config_lock);
}
static int *get_config_if(int wanted) {
  if (!wanted)
    return NULL;
  pthread_rwlock_rdlock(&config_lock);
  return &config;
}
static int succeeds(pthread_rwlock_t *lock) {
  if (pthread_rwlock_wrlock(lock) != 0)
    return 0;
  return 1;
}
static void lock_next(struct store *s) {
  s = s + 1;
  pthread_rwlock_wrlock(&s->lock);
}
static void lock_through(pthread_rwlock_t *lock) {
  pthread_rwlock_wrlock(lock);
}
static void (*const through)(pthread_rwlock_t *) = lock_through;

static void other_member(struct store *s) {
  pthread_mutex_lock(&mutex);
  store_lock(s);
  total += s->value;
  store_unlock_both(s);
  pthread_mutex_unlock(&mutex);
}

static void may_not_take(void) {
  pthread_mutex_lock(&mutex);
  int *c = get_config_if(total);
  if (c)
    release_config();
  pthread_mutex_unlock(&mutex);
}

static void own_terms(void) {
  pthread_mutex_lock(&mutex);
  if (!succeeds(&store.lock))
    abort();
  total++;
  unlock(&store.lock, 5);
  pthread_mutex_unlock(&mutex);
}

static void another(struct store *s) {
  pthread_mutex_lock(&mutex);
  lock_next(s);
  total += s->value;
  store_unlock(s);
  pthread_mutex_unlock(&mutex);
}

static void through_pointer(void) {
  pthread_mutex_lock(&mutex);
  lock_through(&store.lock);
  total++;
  unlock(&store.lock, 6);
  pthread_mutex_unlock(&mutex);
}

static void kept(void) {
  pthread_mutex_lock(&mutex);
  store_lock(&store);
  total++;
  pthread_mutex_unlock(&mutex);
  store_unlock(&store);
}

int main(void) {
  may_not_take();
  own_terms();
  through_pointer();
  if (total < 0) { // never
    other_member(&store);
    another(&store);
    through(&store.lock);
  }
  kept();
  printf("%d\n", total);
  return 0;
}
