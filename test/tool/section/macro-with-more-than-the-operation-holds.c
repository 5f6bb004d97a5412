// SPDX-License-Identifier: MIT
// A macro that does something before the lock or behind the unlock keeps it: the section holds.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight returns (
// CHECK-NEXT: {{.*}}: part of the section stands in a macro [macro-section]
// CHECK:      hold straight counts_before (
// CHECK-NEXT: {{.*}}: part of the section stands in a macro [macro-section]
// CHECK:      hold straight counts_inside (
// CHECK-NEXT: {{.*}}: part of the section stands in a macro [macro-section]
// CHECK:      delegate straight leaves_on_failure (
// CHECK:      hold straight leaves_inside (
// CHECK-NEXT: {{.*}}: returns with the lock held [held-at-exit]
#include <pthread.h>
#include <stdio.h>

#define UNLOCK_RETURN(m) pthread_mutex_unlock(m); return
#define COUNT_LOCK(m) taken++; pthread_mutex_lock(m)
#define LOCK_COUNT(m) pthread_mutex_lock(m); taken++
#define LOCK_OR_FAIL(m) do { if (pthread_mutex_lock(m)) return -1; } while (0)
#define FAIL_IF(x) if (x) return -2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, taken;

static void returns(void) {
  pthread_mutex_lock(&lock);
  count++;
  UNLOCK_RETURN(&lock);
  count += 100;
}

static void counts_before(void) {
  COUNT_LOCK(&lock);
  count++;
  pthread_mutex_unlock(&lock);
}

static void counts_inside(void) {
  LOCK_COUNT(&lock);
  count++;
  pthread_mutex_unlock(&lock);
}

static int leaves_on_failure(void) {
  LOCK_OR_FAIL(&lock);
  count++;
  pthread_mutex_unlock(&lock);
  return 0;
}

static int leaves_inside(void) {
  pthread_mutex_lock(&lock);
  FAIL_IF(count > 100);
  count++;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  returns();
  counts_before();
  counts_inside();
  leaves_on_failure();
  leaves_inside();
  printf("%d %d\n", count, taken);
  return 0;
}
