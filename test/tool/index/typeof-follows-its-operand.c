// SPDX-License-Identifier: MIT
// `typeof` of a variable or member, in a declaration or a cast as macros for memory have it, means the
// type that its declaration has then: nothing changes in it, and both are converted together. An operand
// that spells a type keeps.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl | FileCheck %s
// CHECK-DAG: {{^}}+  relock_mutex_t **locks;
// CHECK-DAG: {{^}}   __typeof__(*t->locks) other = t->locks[i];
// CHECK-DAG: {{^}}+    relock_execute_any_thread(other, add_section, &section);
// CHECK-DAG: {{^}} static pthread_mutex_t kept
// CHECK-DAG: relock: 1 lock class kept
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// VERDICT: is declared with a type that is not spelled 'pthread_…_t' [type-spelling]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ALLOCATE(p, size)                                                                          \
  do {                                                                                             \
    p = (__typeof__(p))malloc(size);                                                               \
    if (!p)                                                                                        \
      abort();                                                                                     \
  } while (0)

struct table {
  pthread_mutex_t **locks;
  int n, total;
};
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;

static void grow(struct table *t) {
  pthread_mutex_t *lock;

  t->locks = (__typeof__(t->locks))realloc(t->locks, (t->n + 1) * sizeof *t->locks);
  ALLOCATE(lock, sizeof *lock);
  pthread_mutex_init(lock, NULL);
  t->locks[t->n++] = lock;
}

static void add(struct table *t, int i) {
  __typeof__(*t->locks) other = t->locks[i];

  if (other) {
    pthread_mutex_lock(other);
    t->total += i;
    pthread_mutex_unlock(other);
  }
}

static void spells(void) {
  __typeof__((pthread_mutex_t *)&kept) lock = &kept;
  pthread_mutex_lock(lock);
  puts("kept");
  pthread_mutex_unlock(lock);
}

int main(void) {
  struct table t = {0};
  for (int i = 0; i < 3; i++) {
    grow(&t);
    add(&t, i);
  }
  spells();
  printf("%d\n", t.total);
  for (int i = 0; i < 3; i++)
    free(t.locks[i]);
  free(t.locks);
  return 0;
}
