// SPDX-License-Identifier: MIT
// All operations that the text names, in both branches of #if and in a macro's body, once each.
// REQUIRES: spatch
// RUN: %spatch %patches/find/lock-operations.cocci -D report %s | sort -t: -k2n | FileCheck %s
// CHECK:      lock-operations.c:[[# @LINE + 12]]:17: pthread_mutex_trylock(m)
// CHECK-NEXT: lock-operations.c:[[# @LINE + 15]]:3: pthread_mutex_lock(& lock)
// CHECK-NEXT: lock-operations.c:[[# @LINE + 16]]:3: pthread_mutex_timedlock(& lock , deadline)
// CHECK-NEXT: lock-operations.c:[[# @LINE + 18]]:12: pthread_cond_wait(& cond , & lock)
// CHECK-NEXT: lock-operations.c:[[# @LINE + 18]]:10: pthread_mutex_unlock(& lock)
// CHECK-NOT:  {{.}}
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int items;

#define TRY(m) (pthread_mutex_trylock(m) == 0)

int take(const struct timespec *deadline) {
#ifndef WITH_DEADLINE
  pthread_mutex_lock(&lock);
#else
  pthread_mutex_timedlock(&lock, deadline);
#endif
  while (items == 0)
    (void)(pthread_cond_wait(&cond, &lock));
  return pthread_mutex_unlock(&lock);
}
