// SPDX-License-Identifier: MIT
// A function of skipped text that changes its parameter may operate on any lock.
// RUN: (%verdicts %s; true) | FileCheck %s
// CHECK:      lock ({{.*}}): keep
// CHECK-NEXT:   skipped-function-changes-its-lock.c:[[#]]: may be operated on here through a pointer, in text that no indexed configuration compiles (#ifdef DEBUG); index one that does [uncovered]
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;

#ifdef DEBUG
static int is_locked(pthread_mutex_t *m) {
  m++;
  if (pthread_mutex_trylock(m))
    return 1;
  pthread_mutex_unlock(m);
  return 0;
}
#endif

void add(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
