// SPDX-License-Identifier: MIT
// A wrapper of another lock that aborts where its operation fails returns what it likes: its
// callers hold the lock. What a function that never returns still holds is nobody's.
// RUN: %verdicts %s | FileCheck %s
// RUN: %verdicts %s -DNDEBUG | FileCheck %s
// CHECK:      delegate straight {{ *}}balanced
// CHECK-NEXT: hold {{ *}}nested {{ *}}keeps
// CHECK:        takes or releases another lock here, but not both on each path [nested]
// CHECK:      delegate straight {{ *}}may_die
// CHECK-NEXT: hold {{ *}}straight {{ *}}reports
// CHECK:        calls 'retry', which may return holding a readers-writer lock
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { success, failure };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER, kept = PTHREAD_RWLOCK_INITIALIZER,
                        tried = PTHREAD_RWLOCK_INITIALIZER;
static int total;

int table_lock(pthread_rwlock_t *l) {
  int error = pthread_rwlock_wrlock(l);
  assert(error == 0);
  (void)error;
  return success;
}

int table_unlock(pthread_rwlock_t *l) {
  int error = pthread_rwlock_unlock(l);
  assert(error == 0);
  (void)error;
  return success;
}

// Its callers see a code of its own.
static int try(void) {
  int error = pthread_rwlock_wrlock(&tried);
  return error ? failure : success;
}

static void retry(void) { try(); }

static void change(void) {
  table_lock(&table);
  total++;
  table_unlock(&table);
}

static void keep(void) {
  table_lock(&kept);
  total++;
}

__attribute__((noreturn)) static void die(void) {
  table_lock(&table);
  total++;
  abort();
}

void balanced(void) {
  pthread_mutex_lock(&lock);
  change();
  pthread_mutex_unlock(&lock);
}

void keeps(void) {
  pthread_mutex_lock(&lock);
  keep();
  pthread_mutex_unlock(&lock);
}

void may_die(void) {
  pthread_mutex_lock(&lock);
  if (total < 0)
    die();
  pthread_mutex_unlock(&lock);
}

void reports(void) {
  pthread_mutex_lock(&lock);
  retry();
  pthread_mutex_unlock(&lock);
}
