// SPDX-License-Identifier: MIT
// A macro that is another name for the function serves converted and kept locks: its invocations
// change, not its definition.
// RUN: %check_rewrite %s --lock hot=mcs --algorithms=mcs,rcl
// RUN: %rewritten %s --lock hot=mcs | FileCheck %s
// CHECK:      #define LOCK(m) pthread_mutex_lock(m)
// CHECK-NEXT: #define UNLOCK(m) do { pthread_mutex_unlock(m); } while (0)
// CHECK:      static relock_mutex_t hot = RELOCK_MUTEX_INITIALIZER(hot);
// CHECK-NEXT: static pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;
// CHECK:      static int hit_section(void *context) {
// CHECK:        while ((*n)-- > 0)
// CHECK-NEXT:     LOCK(&cold), hits++, pthread_mutex_unlock(&cold);
// CHECK:        relock_execute(&hot, hit_section, &n);
// CHECK:        LOCK(&cold);
// CHECK-NEXT:   misses++;
// CHECK-NEXT:   UNLOCK(&cold);
// CHECK:      RELOCK_LOCK_CLASS(hot, "hot", "mcs");
#include <pthread.h>
#include <stdio.h>

#define LOCK(m) pthread_mutex_lock(m)
#define UNLOCK(m) do { pthread_mutex_unlock(m); } while (0)

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cold = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;

static void hit(int n) {
  LOCK(&hot);
  while (n-- > 0)
    LOCK(&cold), hits++, pthread_mutex_unlock(&cold);
  UNLOCK(&hot);
}

static void miss(void) {
  LOCK(&cold);
  misses++;
  UNLOCK(&cold);
}

int main(void) {
  hit(2);
  miss();
  printf("%d %d\n", hits, misses);
  return 0;
}
