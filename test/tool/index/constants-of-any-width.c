// SPDX-License-Identifier: MIT
// A constant that no signed number of 64 bits can be, where the body of a lock wrapper is followed.
// RUN: %check_rewrite %s --no-run
// RUN: %verdicts %s | FileCheck %s
// CHECK: delegate straight adds
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long total;
static unsigned long long take(void) {
  pthread_mutex_lock(&lock);
  return ~0ULL;
}
static unsigned long long next(unsigned long long limit) { return total < limit ? total : limit; }
unsigned long long passes_on(void) { return next(~0ULL); }
__extension__ typedef unsigned __int128 wide_t;
static wide_t wide(wide_t n) { return n >> 1; }
wide_t passes_wide_on(void) { return wide(~(wide_t)0); }
unsigned long long drop(void) {
  take();
  pthread_mutex_unlock(&lock);
  return ~0ULL;
}
void adds(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
