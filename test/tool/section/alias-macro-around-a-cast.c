// SPDX-License-Identifier: MIT
// Where a macro that is another name for the function serves a lock that stays, too, its use is
// rewritten, and so is a type within the use.
// RUN: %check_rewrite %s --lock hot=mcs --algorithms=mcs,rcl
// RUN: %rewritten %s --lock hot=mcs | FileCheck %s
// CHECK:      #define LOCK(m) pthread_mutex_lock(m)
// CHECK-NEXT: #define UNLOCK(m) pthread_mutex_unlock(m)
// CHECK:      relock_mutex_t *lock = &hot[n & 1];
// CHECK:      static void give_back(void *lock) {
// CHECK-NEXT:   relock_mutex_unlock((relock_mutex_t *) lock);
// CHECK:        LOCK(&cold);
// CHECK-NEXT:   UNLOCK(&cold);
#include <pthread.h>
#include <stdio.h>

#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) pthread_mutex_unlock(m)

static pthread_mutex_t hot[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;

static void *try_one(int n) {
  pthread_mutex_t *lock = &hot[n & 1];
  if (pthread_mutex_trylock(lock) == 0)
    return lock;
  return NULL;
}

static void give_back(void *lock) {
  UNLOCK((pthread_mutex_t *) lock);
}

int main(void) {
  void *lock = try_one(1);
  LOCK(&cold);
  UNLOCK(&cold);
  if (lock)
    give_back(lock);
  puts(lock ? "had it" : "had it not");
  return 0;
}
