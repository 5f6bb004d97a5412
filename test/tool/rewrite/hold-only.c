// SPDX-License-Identifier: MIT
// --hold-only converts the chosen class lock for lock: no section becomes a function.
// RUN: %rewritten %s --hold-only --lock total_lock=ccsynch | FileCheck %s
// CHECK:     relock: 1 lock class converted, 0 sections delegated, 2 held
// CHECK:     static relock_mutex_t total_lock = RELOCK_MUTEX_INITIALIZER(
// CHECK:     static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
// CHECK-NOT: relock_execute
// CHECK:     relock_mutex_lock(&total_lock);
// CHECK:     total += amount;
// CHECK:     relock_mutex_unlock(&total_lock);
// CHECK:     pthread_mutex_lock(&other_lock);
// CHECK-NOT: relock_execute
#include <pthread.h>

static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static int total, other;

void add(int amount) {
  pthread_mutex_lock(&total_lock);
  total += amount;
  pthread_mutex_unlock(&total_lock);
  pthread_mutex_lock(&other_lock);
  other++;
  pthread_mutex_unlock(&other_lock);
}

int get(void) {
  pthread_mutex_lock(&total_lock);
  int result = total;
  pthread_mutex_unlock(&total_lock);
  return result;
}
