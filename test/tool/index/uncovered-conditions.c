// SPDX-License-Identifier: MIT
// Each uncovered site names the directives that hide it: those of nested ones, of `#else` and
// `#elif`, in one line and without comments; not those that are open around them. `#elifdef` begins a
// branch of its own, too, and may be one for another system.
// RUN: (%verdicts %s -std=c2x -DAROUND -DTAKEN; true) | FileCheck %s
// CHECK:      lock (uncovered-conditions.c:[[#]]): keep
// CHECK:      uncovered-conditions.c:[[#@LINE + 17]]: {{.*}} compiles (#ifdef ONE) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 19]]: {{.*}} compiles (#ifdef ONE, #if defined(TWO) && LEVEL > 1) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 26]]: {{.*}} compiles (#else of #ifdef TAKEN) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 30]]: {{.*}} compiles (#elif LEVEL == 3) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 31]]: {{.*}} compiles (#else of #elif LEVEL == 3) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 35]]: {{.*}} compiles (#elifdef SPARE) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 36]]: {{.*}} for another system (#elifdef __APPLE__) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 37]]: {{.*}} compiles (#elifndef AROUND) [uncovered]
// CHECK:      uncovered-conditions.c:[[#@LINE + 38]]: {{.*}} compiles (#else of #elifndef AROUND) [uncovered]
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
#ifdef TAKEN
  total++;
#elifdef SPARE
  pthread_mutex_lock(&lock);
#elifdef __APPLE__
  pthread_mutex_lock(&lock);
#elifndef AROUND
  pthread_mutex_lock(&lock);
#else
  pthread_mutex_lock(&lock);
#endif
#endif
}
