// SPDX-License-Identifier: MIT
// A section that may touch its thread's state runs with the caller's identity; a pure one runs
// without the switch. errno, thread-local variables and pthread_self are the caller's.
// RUN: %check_rewrite %s --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// CHECK-DAG:    relock_execute_any_thread(&lock, pure_section, NULL);
// CHECK-DAG:    relock_execute(&lock, sets_errno_section, NULL);
// CHECK-DAG:    relock_execute(&lock, counts_mine_section, NULL);
// CHECK-DAG:    relock_execute(&lock, counts_through_callee_section, NULL);
// CHECK-DAG:    relock_execute(&lock, is_me_section, &section);
// CHECK-DAG:    relock_execute(&lock, allocates_section, NULL);
// COUNTS:     stats: lock held=0 executed=12000
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, wrong;
static __thread int mine;

static void bump(void) { mine++; }

static void pure(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}

static void sets_errno(void) {
  pthread_mutex_lock(&lock);
  errno = ERANGE;
  pthread_mutex_unlock(&lock);
}

static void counts_mine(void) {
  pthread_mutex_lock(&lock);
  mine++;
  pthread_mutex_unlock(&lock);
}

static void counts_through_callee(void) {
  pthread_mutex_lock(&lock);
  bump();
  pthread_mutex_unlock(&lock);
}

static void is_me(pthread_t me) {
  pthread_mutex_lock(&lock);
  wrong += !pthread_equal(me, pthread_self());
  pthread_mutex_unlock(&lock);
}

static void allocates(void) {
  pthread_mutex_lock(&lock);
  free(malloc(24));
  pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
  int errors = 0;
  for (int i = 0; i < 500; i++) {
    errno = 0;
    pure();
    sets_errno();
    errors += errno != ERANGE;
    counts_mine();
    counts_through_callee();
    is_me(pthread_self());
    allocates();
  }
  (void)unused;
  return (void *)(long)(errors + (mine != 1000));
}

int main(void) {
  pthread_t threads[4];
  void *errors;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &errors);
    wrong += errors != NULL;
  }
  printf("%d %d\n", total, wrong);
  return wrong;
}
