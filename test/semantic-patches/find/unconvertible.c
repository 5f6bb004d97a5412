// SPDX-License-Identifier: MIT
// Attributes and operations that keep a mutex what it is; their defaults do not.
// REQUIRES: spatch, tool
// RUN: (%relock patches find/unconvertible %s; echo "status $?") 2>&1 | FileCheck %s
// CHECK:      unconvertible.c:[[# @LINE + 11]]:3: is shared with other processes [process-shared]
// CHECK-NEXT: unconvertible.c:[[# @LINE + 12]]:3: is robust [robust]
// CHECK-NEXT: unconvertible.c:[[# @LINE + 13]]:3: has a priority protocol [priority]
// CHECK-NEXT: unconvertible.c:[[# @LINE + 13]]:3: pthread_mutex_consistent has no counterpart [unsupported-operation]
// CHECK-NEXT: status 1
#define _GNU_SOURCE
#include <pthread.h>

void set(pthread_mutexattr_t *a, pthread_condattr_t *c, pthread_mutex_t *m) {
  pthread_mutexattr_setpshared(a, PTHREAD_PROCESS_PRIVATE);
  pthread_condattr_setpshared(c, PTHREAD_PROCESS_PRIVATE);
  pthread_mutexattr_setpshared(a, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(a, PTHREAD_MUTEX_STALLED);
  pthread_mutexattr_setrobust(a, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setprotocol(a, PTHREAD_PRIO_NONE);
  pthread_mutexattr_setprotocol(a, PTHREAD_PRIO_INHERIT);
  pthread_mutex_consistent(m);
}
