// SPDX-License-Identifier: MIT
// A lock that checks errors may return one, and its result is kept: the section holds.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold conditional add
// CHECK-NEXT: the result of the lock operation is used, and the mutex may check errors ({{.*}}:29) [tested-result]
// CHECK:      1 lock site: 0 delegate, 1 hold
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock;
static int total;

static int add(int n, int deep) {
  int rc = pthread_mutex_lock(&lock);
  if (rc)
    return rc;
  total += n;
  if (deep)
    rc = add(n, 0);
  pthread_mutex_unlock(&lock);
  return rc;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&lock, &attributes);
  printf("%d ", add(3, 1) == EDEADLK);
  printf("%d\n", total);
  return 0;
}
