// SPDX-License-Identifier: MIT
// A lock wrapper that does more than to lock: its sections hold, since the rest of it must still
// happen, in its place.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static void enter(void) {
// CHECK-NEXT:   relock_mutex_lock(&lock);
// CHECK-NEXT:   depth++;
// CHECK:        enter();
// CHECK-NEXT:   deepest = depth;
// CHECK-NEXT:   leave();
// REASON:     hold straight work
// REASON-NEXT: the lock wrapper does more than to lock, or its lock cannot be named here [wrapper-effects]
// REASON-NEXT: the unlock wrapper does more than to unlock [wrapper-effects]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth, deepest;

static void enter(void) {
  pthread_mutex_lock(&lock);
  depth++;
}

static void leave(void) {
  depth--;
  pthread_mutex_unlock(&lock);
}

static void work(void) {
  enter();
  deepest = depth;
  leave();
}

int main(void) {
  work();
  work();
  printf("%d %d\n", depth, deepest);
  return 0;
}
