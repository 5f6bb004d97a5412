// SPDX-License-Identifier: MIT
// Each uncovered site names the directives that hide it: those of nested ones, of `#else` and
// `#elif`, in one line and without comments; not those that are open around them.
// RUN: (%verdicts %s -DAROUND -DTAKEN; true) | FileCheck %s
// CHECK:      lock (uncovered-conditions.c:[[#]]): keep
// CHECK:      uncovered-conditions.c:[[#@LINE + 13]]: {{.*}} compiles (#ifdef ONE) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 15]]: {{.*}} compiles (#ifdef ONE, #if defined(TWO) && LEVEL > 1) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 22]]: {{.*}} compiles (#else of #ifdef TAKEN) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 26]]: {{.*}} compiles (#elif LEVEL == 3) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 27]]: {{.*}} compiles (#else of #elif LEVEL == 3) [uncovered]
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;

void add(void) {
#ifdef AROUND
#ifdef ONE
  pthread_mutex_lock(&lock);
#  if defined(TWO) /* and */ \
      && LEVEL > 1
  pthread_mutex_lock(&lock);
# endif
#endif
#ifdef TAKEN
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
#else
  pthread_mutex_lock(&lock);
#endif
#if defined(TAKEN)
  total++;
#elif LEVEL == 3
  pthread_mutex_lock(&lock);
#else
  pthread_mutex_lock(&lock);
#endif
#endif
}
