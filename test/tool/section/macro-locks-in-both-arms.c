// SPDX-License-Identifier: MIT
// A macro that locks in both arms of an `if` is one site, and that is what its reason says where it holds: the
// condition calls something.
// RUN: %verdicts %s > %t || test $? = 1; FileCheck %s < %t
// CHECK:      hold {{.*}} add (macro-locks-in-both-arms.c:[[#]])
// CHECK-NOT:  configurations-differ
// CHECK:      the lock is not a statement of a block [conditional]
// CHECK-NOT:  configurations-differ
// CHECK:      1 lock site: 0 delegate, 1 hold
#include <pthread.h>
#include <stdio.h>
int is_debug(void);
int total;
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;
#define LOCK(m) { if (!is_debug()) { pthread_mutex_lock(m); } else { printf("lock %p\n", m); pthread_mutex_lock(m); } }
#define UNLOCK(m) { if (!is_debug()) { pthread_mutex_unlock(m); } else { printf("unlock %p\n", m); pthread_mutex_unlock(m); } }
void add(int n);
void add(int n) {
  LOCK(&jobs);
  total += n;
  UNLOCK(&jobs);
}
