// SPDX-License-Identifier: MIT
// A skipped operation through a pointer variable may be on any lock, so that it keeps every class.
// LOCK of the other configuration gives its function the locks that LOCK is used with here: that
// function would take a converted one as a pthread mutex.
// RUN: (%verdicts %s; true) | FileCheck %s
// RUN: (%verdicts %s -DTRACE; true) | FileCheck %s --check-prefix=TRACE
// CHECK:      lock ({{.*}}): keep
// CHECK-NEXT:   uncovered-pointer.c:[[#]]: may be given to 'traced_lock' here, which operates on it in text that no indexed configuration compiles (#ifdef TRACE); index one that does [uncovered]
// CHECK-NEXT:   uncovered-pointer.c:[[#]]: may be operated on here through a pointer, {{.*}}(#ifdef AUDIT)
// CHECK:      other ({{.*}}): keep
// CHECK-NEXT:   uncovered-pointer.c:[[#]]: may be operated on here through a pointer, in text that no indexed configuration compiles (#ifdef AUDIT); index one that does [uncovered]
// TRACE:      lock ({{.*}}): keep
// TRACE-NEXT:   uncovered-pointer.c:[[#]]: may be operated on here through a pointer, {{.*}}(#else of #ifdef TRACE){{.*}} [uncovered]
#include <pthread.h>

#ifdef TRACE
int traced;
void traced_lock(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  traced++;
}
#define LOCK(m) traced_lock(&(m))
#else
#define LOCK(m) pthread_mutex_lock(&(m))
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
int total;

void add(void) {
  LOCK(lock);
  total++;
  pthread_mutex_unlock(&lock);
}

void add_to_other(void) {
  pthread_mutex_lock(&other);
  total++;
  pthread_mutex_unlock(&other);
#ifdef AUDIT
  pthread_mutex_t *audited = total ? &other : 0;
  pthread_mutex_lock(audited);
#endif
}
