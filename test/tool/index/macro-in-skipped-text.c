// SPDX-License-Identifier: MIT
// Skipped text that locks through a project's macro is as uncovered as a plain call.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hot (macro-in-skipped-text.c:[[#]]): keep
// CHECK-NEXT:   macro-in-skipped-text.c:[[#]]: {{.*}} [uncovered]
#include <pthread.h>
#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) pthread_mutex_unlock(m)
static void enter(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void leave(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;
int total;
void add(void) {
  LOCK(&hot);
  total++;
  UNLOCK(&hot);
  enter(&cold);
  total++;
  leave(&cold);
}
#ifdef OTHER
void reset(void) {
  LOCK(&hot);
  total = 0;
  UNLOCK(&hot);
  enter(&cold);
  total++;
  leave(&cold);
}
#endif
