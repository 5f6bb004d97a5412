// SPDX-License-Identifier: MIT
// Text that is not compiled defines a macro in the place of a function that is called here: what the
// function is given, the macro would be given. Other locks are not its own.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      free {{.*}}: convert
// CHECK-NEXT: delegate straight other
// CHECK-NEXT: own {{.*}}: keep
// CHECK-NEXT: skipped-macro-for-a-function.c:[[#]]: may be operated on here, {{.*}}(#ifndef WITH_CHECKS); index one that does [uncovered]
#include <pthread.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t free = PTHREAD_MUTEX_INITIALIZER;
static int total;

#define WITH_CHECKS
#ifndef WITH_CHECKS
#define take(mutex) pthread_mutex_lock(mutex)
#define leave(mutex) pthread_mutex_unlock(mutex)
#else
static int take(pthread_mutex_t *mutex) { return total < 0 ? -1 : pthread_mutex_lock(mutex); }
static int leave(pthread_mutex_t *mutex) { return pthread_mutex_unlock(mutex); }
#endif

static void add(int n) {
  take(&own);
  total += n;
  leave(&own);
}

static void other(void) {
  pthread_mutex_lock(&free);
  total++;
  pthread_mutex_unlock(&free);
}

int main(void) {
  add(1);
  other();
  return total != 2;
}
