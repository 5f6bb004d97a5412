// SPDX-License-Identifier: MIT
// A lock wrapper may get its lock from a function. The sections between such wrappers are listed, and
// hold: neither their function nor a companion can repeat the call.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold {{ *}}straight between
// CHECK-NEXT: 'mutex_of(group)' cannot be named in this file [lock-not-visible]
// CHECK-NEXT: the lock wrapper does more than to lock, or its lock cannot be named here [wrapper-effects]
// CHECK:      hold {{ *}}cross-function two
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK:      0 delegate
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutexes[4];
static int sum, sums;

static pthread_mutex_t *mutex_of(unsigned group) {
  return group < 4 ? &mutexes[group] : NULL;
}
int group_lock(unsigned group) {
  pthread_mutex_t *mutex = mutex_of(group);
  if (!mutex)
    return EFAULT;
  return pthread_mutex_lock(mutex);
}
int group_unlock(unsigned group) {
  pthread_mutex_t *mutex = mutex_of(group);
  if (!mutex)
    return EFAULT;
  return pthread_mutex_unlock(mutex);
}
void between(void) {
  group_lock(1);
  sum++;
  group_unlock(1);
}
void two(void) {
  group_lock(2);
  sums++;
  group_unlock(3);
}
