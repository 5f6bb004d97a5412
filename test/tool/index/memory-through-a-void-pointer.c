// SPDX-License-Identifier: MIT
// Memory that is allocated is fresh in a `void *` as well: `void *grown = realloc(t->locks, size);` and the
// like mix a lock with nothing. What comes from elsewhere keeps it.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl | FileCheck %s
// CHECK-DAG: {{^}}+  relock_mutex_t **locks;
// CHECK-DAG: {{^}} static pthread_mutex_t *borrowed;
// CHECK-DAG: relock: 1 lock class kept
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// VERDICT: mixes with a pointer that is not followed [pointer-cast]
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
  pthread_mutex_t **locks;
  int n, total;
};
static pthread_mutex_t *borrowed;

static int grow(struct table *t) {
  void *grown = realloc(t->locks, (t->n + 1) * sizeof *t->locks);
  void *lock;

  if (!grown)
    return 0;
  t->locks = grown;
  lock = malloc(sizeof(pthread_mutex_t));
  if (lock == NULL)
    return 0;
  t->locks[t->n] = lock;
  pthread_mutex_init(t->locks[t->n++], NULL);
  return 1;
}

static void add(struct table *t, int i) {
  pthread_mutex_lock(t->locks[i]);
  t->total += i;
  pthread_mutex_unlock(t->locks[i]);
}

static void borrow(void) {
  void *found = getenv("NO_SUCH_VARIABLE");

  borrowed = found;
  if (borrowed)
    pthread_mutex_lock(borrowed);
}

int main(void) {
  struct table t = {0};
  for (int i = 0; i < 3; i++)
    if (grow(&t))
      add(&t, i);
  borrow();
  printf("%d\n", t.total);
  return 0;
}
