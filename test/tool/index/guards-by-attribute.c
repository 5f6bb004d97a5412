// SPDX-License-Identifier: MIT
// A variable goes to its cleanup function when its scope ends, by its type or as a `void *`: lock
// and unlock are of one class, which converts or is kept as a whole.
// RUN: %check_rewrite %s --algorithms=adaptive,ccsynch,rcl | FileCheck %s
// CHECK-DAG: {{^}}-static void unlock_typed(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }
// CHECK-DAG: +  return relock_execute_any_thread(&typed, with_typed_section, NULL);
// CHECK-DAG: +  relock_mutex_t **m = p;
// CHECK-DAG: +  relock_mutex_t *lock;
// CHECK-DAG: {{^}} static void unlock_kept(void *p) { pthread_mutex_unlock(*(pthread_mutex_t **)p); }
// CHECK-DAG: relock: 4 lock classes converted, 2 sections delegated, 3 held
// CHECK-DAG: relock: 1 lock class kept;
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t typed = PTHREAD_MUTEX_INITIALIZER, untyped = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t boxed = PTHREAD_MUTEX_INITIALIZER, plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void unlock_typed(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }
static void unlock_untyped(void *p) {
  pthread_mutex_t **m = p;
  pthread_mutex_unlock(*m);
}
static void unlock_kept(void *p) { pthread_mutex_unlock(*(pthread_mutex_t **)p); }
struct guard {
  pthread_mutex_t *lock;
};
static void unlock_boxed(void *p) {
  struct guard *g = p;
  pthread_mutex_unlock(g->lock);
}
static pthread_mutex_t *locked(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  return m;
}
static int with_typed(void) {
  __attribute__((cleanup(unlock_typed))) pthread_mutex_t *m = &typed;
  pthread_mutex_lock(m);
  return ++count;
}
static int with_untyped(void) {
  __attribute__((cleanup(unlock_untyped))) pthread_mutex_t *m = locked(&untyped);
  return ++count;
}
static int with_boxed(void) {
  __attribute__((cleanup(unlock_boxed))) struct guard g = {&boxed};
  pthread_mutex_lock(g.lock);
  return ++count;
}
static int with_kept(void) {
  __attribute__((cleanup(unlock_kept))) pthread_mutex_t *m = &kept;
  pthread_mutex_lock(m);
  return ++count;
}
static int with_plain(void) {
  int n;
  pthread_mutex_lock(&plain);
  n = ++count;
  pthread_mutex_unlock(&plain);
  return n;
}
int main(void) {
  int size = (int)sizeof(__typeof__(kept)), *first = (int *)&kept;
  if (size < 0)
    ++*first;
  for (int i = 0; i < 3; i++) {
    int a = with_typed(), b = with_untyped(), c = with_boxed(), d = with_plain();
    d += with_kept();
    printf("%d %d %d %d\n", a, b, c, d);
  }
  return 0;
}
