// SPDX-License-Identifier: MIT
// A lock macro changes for all of its users where another macro names the lock for it, and the name of
// a copy of it is taken; where one of them is kept, so are the others. Two users that name their locks
// themselves are independent.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=mcs | FileCheck %s --check-prefix=DIFF
// CHECK:      kept (macro-body-that-has-to-change.c:[[#]]): keep
// CHECK:        [unsupported-operation]
// CHECK:      own (macro-body-that-has-to-change.c:[[#]]): convert
// CHECK:      pool.lock (macro-body-that-has-to-change.c:[[#]]): keep
// CHECK:        {{.*}} shares source text {{.*}} with 'kept', which is kept [group]
// DIFF-NOT:   not-rewritten
// DIFF:       relock: 1 lock class converted
#include <pthread.h>
#include <stdio.h>
#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) pthread_mutex_unlock(m)
enum { LOCK_RELOCK, UNLOCK_RELOCK };
#define POOL_LOCK(p) LOCK(&(p)->lock)
#define POOL_UNLOCK(p) UNLOCK(&(p)->lock)
#define TAKE(m) pthread_mutex_lock(m)
#define LEAVE(m) pthread_mutex_unlock(m)
struct pool {
  pthread_mutex_t lock;
  int n;
};
static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  POOL_LOCK(&pool);
  pool.n++;
  POOL_UNLOCK(&pool);
  LOCK(&kept);
  pool.n++;
  UNLOCK(&kept);
  TAKE(&kept);
  pthread_mutex_consistent(&kept);
  LEAVE(&kept);
  TAKE(&own);
  pool.n++;
  LEAVE(&own);
  printf("%d\n", pool.n);
  return 0;
}
