// SPDX-License-Identifier: MIT
// A skipped operation on the operand of a compiled one of the same function, which the directive
// chooses between, concerns the locks of that one; not where skipped text gives the operand another
// value.
// RUN: (%verdicts %s; true) | FileCheck %s
// RUN: sed 's,// CHANGED: ,,' %s > %t.c && (%verdicts %t.c; true) | FileCheck %s --check-prefix=ANY
// CHECK:      chosen ({{.*}}): keep
// CHECK-NEXT:   skipped-branch-of-a-compiled-operation.c:[[#]]: may be operated on here, in text that no indexed configuration compiles (#else of #ifndef SLOW); index one that does [uncovered]
// CHECK:      other ({{.*}}): convert
// ANY:        other ({{.*}}): keep
#include <pthread.h>

static pthread_mutex_t chosen = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
struct holder {
  pthread_mutex_t *lock;
};
static struct holder holder = {&chosen};
int total, waits;

void add(struct holder *h) {
  pthread_mutex_t *lock = h->lock;
#ifndef SLOW
  if (pthread_mutex_lock(lock) != 0)
    waits++;
#else
  // CHANGED: lock = &other;
  waits++;
  pthread_mutex_lock(lock);
#endif
  total++;
  pthread_mutex_unlock(lock);
}

void add_both(void) {
  add(&holder);
  pthread_mutex_lock(&other);
  total++;
  pthread_mutex_unlock(&other);
}
