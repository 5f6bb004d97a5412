// SPDX-License-Identifier: MIT
// A macro that gives back the declaration that it is given changes nothing about it.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s
// CHECK: +DECLARE(static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(lock));
#include <pthread.h>
#include <stdio.h>
#define DECLARE(declaration) declaration
DECLARE(static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER);
static int count;
int main(void) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
  printf("%d\n", count);
  return 0;
}
