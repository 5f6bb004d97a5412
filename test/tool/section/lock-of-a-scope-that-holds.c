// SPDX-License-Identifier: MIT
// Scopes of which it is not plain that their end, and nothing else, releases the lock.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK-NOT:   relock_execute
// REASON:      hold {{.*}} given (
// REASON-NEXT: is not unlocked in this function [cross-function]
// REASON:      hold {{.*}} later (
// REASON-NEXT: is not unlocked in this function [cross-function]
// REASON:      hold {{.*}} counted (
// REASON-NEXT: is not unlocked in this function [cross-function]
// REASON:      hold {{.*}} perhaps (
// REASON-NEXT: is not unlocked in this function [cross-function]
// REASON:      hold {{.*}} calls (
// REASON-NEXT: returns with the lock held [held-at-exit]
// REASON:      hold split early (
// REASON-NEXT: unlocks here
// REASON:      hold straight another (
// REASON-NEXT: 'inner' releases a lock at the end of its scope [releases-lock]
// REASON:      hold straight rests (
// REASON-NEXT: 'rest' {{.*}} [may-block]
// REASON:      hold straight whole (
// REASON-NEXT: part of the section stands in a macro [macro-section]
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int total, unlocked;

static void unlock(pthread_mutex_t **mutex) {
  pthread_mutex_unlock(*mutex);
}
static void unlock_and_count(pthread_mutex_t **mutex) {
  pthread_mutex_unlock(*mutex);
  unlocked++;
}
static void rest(int *n) {
  usleep(*n);
}

// Something else may release, or change what the variable points to.
static void given(void) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(guard);
  total++;
  if (total > 100)
    guard = &other;
}

static void later(int n) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  total += n;
  pthread_mutex_lock(guard);
  total++;
}

static void counted(void) {
  __attribute__((cleanup(unlock_and_count))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(guard);
  total++;
}

static void perhaps(int n) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  if (n)
    pthread_mutex_lock(guard);
  total++;
}

static void add(int n) { total += n; }
static void calls(int n) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(guard);
  if (n)
    return add(n);
  total++;
}

static void early(int n) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
  pthread_mutex_lock(&lock);
  total++;
  if (n) {
    pthread_mutex_unlock(&lock);
    total++;
    pthread_mutex_lock(&lock);
  }
}

static void another(void) {
  pthread_mutex_lock(&other);
  {
    __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &lock;
    pthread_mutex_lock(&lock);
    __attribute__((cleanup(unlock))) pthread_mutex_t *inner = &other;
    total++;
  }
}

static void rests(void) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = &other;
  pthread_mutex_lock(guard);
  __attribute__((cleanup(rest))) int n = 1;
  total++;
}

#define WITH(mutex, what) { \
  __attribute__((cleanup(unlock))) pthread_mutex_t *guard = (mutex); \
  pthread_mutex_lock(guard); \
  what; \
}
static void whole(void) {
  WITH(&lock, total++);
}

int main(void) {
  given();
  counted();
  perhaps(1);
  calls(1);
  early(0);
  another();
  rests();
  whole();
  printf("%d %d\n", total, unlocked);
  (void)later;
  return 0;
}
