// SPDX-License-Identifier: MIT
// A function that drops its lock, works, and takes it again has two sections: both delegate, and
// what stands between them runs in the caller, outside the lock.
// RUN: %check_rewrite %s --stats | FileCheck %s --check-prefix=STATS
// RUN: %rewritten %s | FileCheck %s
// STATS:      stats: lock held=1 executed=2
// CHECK:      static int refill(int amount) {
// CHECK-NOT:  relock_mutex
// CHECK:      relock_execute_any_thread(&lock, refill_section,
// CHECK-NEXT: missing = produce(missing);
// CHECK:      relock_execute_any_thread(&lock, refill_section2,
// CHECK-NEXT: return missing;
// CHECK:      int main(void)
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 3;

static int produce(int wanted) {
  pthread_mutex_lock(&lock); // would be a deadlock, were it called inside
  pthread_mutex_unlock(&lock);
  return wanted + 1;
}

static int refill(int amount) {
  int missing = 0;
  pthread_mutex_lock(&lock);
  if (stock < amount)
    missing = amount - stock;
  pthread_mutex_unlock(&lock);
  missing = produce(missing);
  pthread_mutex_lock(&lock);
  stock += missing;
  pthread_mutex_unlock(&lock);
  return missing;
}

int main(void) {
  int made = refill(10);
  printf("%d %d\n", made, stock);
  return 0;
}
