// SPDX-License-Identifier: MIT
// Skipped text that locks through a project's macro is listed like a plain call. It is converted with
// the macro where compiled text uses that with the same class; a class that it is not used with stays.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// RUN: %rewritten %s > %t.c; FileCheck %s --check-prefix=AFTER < %t.c
// CHECK:      cold (macro-in-skipped-text.c:[[#]]): convert
// CHECK:      hot (macro-in-skipped-text.c:[[#]]): convert
// CHECK:      warm (macro-in-skipped-text.c:[[#]]): keep
// CHECK-NEXT:   macro-in-skipped-text.c:[[#]]: {{.*}} [uncovered]
// CHECK:      LOCK in text that no indexed configuration compiles (#ifdef OTHER) [uncovered]
// CHECK:      2 uncovered
// AFTER:      #define LOCK(m) relock_mutex_lock(m)
// AFTER-NEXT: #define UNLOCK(m) relock_mutex_unlock(m)
// AFTER:      relock_mutex_t hot
// AFTER:      relock_execute{{.*}}(&hot
// AFTER:      #ifdef OTHER
// AFTER:      LOCK(&hot);
#include <pthread.h>
#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) pthread_mutex_unlock(m)
static void enter(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void leave(pthread_mutex_t *m) { pthread_mutex_unlock(m); }
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t warm = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;
int total;
void add(void) {
  LOCK(&hot);
  total++;
  UNLOCK(&hot);
  pthread_mutex_lock(&warm);
  total++;
  pthread_mutex_unlock(&warm);
  enter(&cold);
  total++;
  leave(&cold);
}
#ifdef OTHER
void reset(void) {
  LOCK(&hot);
  total = 0;
  UNLOCK(&hot);
  LOCK(&warm);
  total = 0;
  UNLOCK(&warm);
  enter(&cold);
  total++;
  leave(&cold);
}
#endif
