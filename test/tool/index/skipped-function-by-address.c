// SPDX-License-Identifier: MIT
// A function of skipped text whose address is taken may be given any lock.
// RUN: (%verdicts %s; true) | FileCheck %s
// CHECK:      lock ({{.*}}): keep
// CHECK-NEXT:   skipped-function-by-address.c:[[#]]: may be given to 'is_locked' here through a pointer, which operates on it in text that no indexed configuration compiles (#ifdef DEBUG); index one that does [uncovered]
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;

#ifdef DEBUG
static int is_locked(pthread_mutex_t *m) {
  if (pthread_mutex_trylock(m))
    return 1;
  pthread_mutex_unlock(m);
  return 0;
}
int (*const checks[])(pthread_mutex_t *) = {is_locked};
#endif

void add(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
