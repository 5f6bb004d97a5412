// SPDX-License-Identifier: MIT
// A cleanup handler may give its argument another name before it unlocks; not another value.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG: delegate straight named
// CHECK-DAG: hold cross-function changed
// CHECK-DAG: hold cross-function chosen
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, another = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void release(void *given) {
  pthread_mutex_t *mutex = given;
  pthread_mutex_unlock(mutex);
}
static void release_another(void *given) {
  pthread_mutex_t *mutex = given;
  mutex = &another;
  pthread_mutex_unlock(mutex);
}
static void release_chosen(void *given) {
  pthread_mutex_t *mutex = given;
  if (total < 0)
    mutex = &another;
  pthread_mutex_unlock(mutex);
}

static void named(int n) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &lock);
  total += n;
  pthread_cleanup_pop(1);
}
static void changed(int n) {
  pthread_mutex_lock(&another);
  pthread_cleanup_push(release_another, &another);
  total += n;
  pthread_cleanup_pop(1);
}
static void chosen(int n) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release_chosen, &lock);
  total += n;
  pthread_cleanup_pop(1);
}

int main(void) {
  named(3), changed(4), chosen(5);
  printf("%d\n", total);
  return 0;
}
