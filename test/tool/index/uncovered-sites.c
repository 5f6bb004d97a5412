// SPDX-License-Identifier: MIT
// A lock site in text that the configuration skips is reported, and keeps its class; one under
// `#if 0` is nobody's.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --no-run --lock known=mcs
// CHECK:      dead (uncovered-sites.c:[[#]]): convert
// CHECK:      known (uncovered-sites.c:[[#]]): convert
// CHECK:      skipped (uncovered-sites.c:[[#]]): keep
// CHECK-NEXT:   uncovered-sites.c:[[#LINE:]]: {{.*}}configuration{{.*}} [uncovered]
// CHECK:      uncovered-sites.c:[[#LINE]]: pthread_mutex_lock in text that no indexed configuration compiles (#ifdef WITH_RESET) [uncovered]
// CHECK-NEXT: 4 lock sites: 2 delegate, 0 hold, 1 keep, 1 uncovered
// CHECK-NEXT: relock: exit status 1
#include <pthread.h>

pthread_mutex_t dead = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t known = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t skipped = PTHREAD_MUTEX_INITIALIZER;
int total;

void count(void) {
  pthread_mutex_lock(&dead);
  total++;
  pthread_mutex_unlock(&dead);
  pthread_mutex_lock(&known);
  total++;
  pthread_mutex_unlock(&known);
  pthread_mutex_lock(&skipped);
  total++;
  pthread_mutex_unlock(&skipped);
}

#if 0
void old(void) {
  pthread_mutex_lock(&dead);
  pthread_mutex_unlock(&dead);
}
#endif
#ifdef WITH_RESET
void reset(void) {
  pthread_mutex_lock(&skipped);
  total = 0;
  pthread_mutex_unlock(&skipped);
}
#endif
