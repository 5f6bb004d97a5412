// SPDX-License-Identifier: MIT
// Lock macros that are lone braces and take the address of the mutex themselves delegate, with a
// semicolon behind their use or without.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-NOT: hold
// CHECK:     2 lock sites: 2 delegate, 0 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

#define LOCK(m) {pthread_mutex_lock(&(m));}
#define UNLOCK(m) {pthread_mutex_unlock(&(m));}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void braces(void) {
  LOCK(lock)
  count += 1;
  UNLOCK(lock)
}

static void braces_and_semicolons(void) {
  LOCK(lock);
  count += 10;
  UNLOCK(lock);
}

int main(void) {
  braces();
  braces_and_semicolons();
  printf("%d\n", count);
  return 0;
}
