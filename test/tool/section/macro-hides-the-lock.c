// SPDX-License-Identifier: MIT
// A macro pair that names the lock itself: sections delegate, and the definitions change because
// held sections use them.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// CHECK:      #define STATS_LOCK() relock_mutex_lock(&stats.lock)
// CHECK-NEXT: #define STATS_UNLOCK() relock_mutex_unlock(&stats.lock)
// CHECK:        relock_execute_any_thread(&stats.lock, hit_section, NULL);
// CHECK:          STATS_LOCK();
// CHECK-NEXT:   if (stats.hits)
// CHECK:          STATS_UNLOCK();
// COUNTS:     stats: stats.lock held=1 executed=2
#include <pthread.h>
#include <stdio.h>

struct stats {
  pthread_mutex_t lock;
  int hits;
};
static struct stats stats = {PTHREAD_MUTEX_INITIALIZER, 0};

#define STATS_LOCK() pthread_mutex_lock(&stats.lock)
#define STATS_UNLOCK() pthread_mutex_unlock(&stats.lock)

static void hit(void) {
  STATS_LOCK();
  stats.hits++;
  STATS_UNLOCK();
}

static void show(int locks) {
  if (locks)
    STATS_LOCK();
  if (stats.hits)
    printf("%d\n", stats.hits);
  if (locks > 0)
    STATS_UNLOCK();
}

int main(void) {
  hit();
  hit();
  show(1);
  return 0;
}
