// SPDX-License-Identifier: MIT
// Loops that lock in their head and cannot become sections: something leaves with the lock held, or the
// loop may run its body otherwise than once.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight returns
// CHECK-NEXT: returns with the lock held [held-at-exit]
// CHECK:      hold straight jumps
// CHECK-NEXT: jumps out of the section with the lock held [held-at-exit]
// CHECK:      hold straight breaks
// CHECK-NEXT: leaves the block with the lock held [held-at-exit]
// CHECK:      hold split releases
// CHECK-NEXT: unlocks here, in a loop whose head unlocks [split]
// CHECK:      hold straight enters
// CHECK-NEXT: a goto enters the section [side-entry]
// CHECK:      hold straight empty
// CHECK-NEXT: [empty]
// CHECK:      hold conditional names
// CHECK-NEXT: [tested-result]
// CHECK:      hold conditional twice
// CHECK:      hold conditional while_work
// CHECK:      hold straight in_macro
// CHECK-NEXT: part of the section stands in a macro [macro-section]
// CHECK:      hold cross-function indexed
// CHECK:      lock sites: 0 delegate
// COUNTS:     stats: lock {{.*}}executed=0
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int total;

#define with(m)                                                                                    \
  for (int i_ = 0; i_ ? (pthread_mutex_unlock(m), 0) : (pthread_mutex_lock(m), 1); i_ = 1)         \
    for (int j_ = 0; !j_; j_ = 1)
#define with_once(m)                                                                               \
  for (int i_ = 0; i_ ? (pthread_mutex_unlock(m), 0) : (pthread_mutex_lock(m), 1); i_ = 1)

static int returns(int n) {
  with(&lock) {
    if (n)
      return n;
    total++;
  }
  return 0;
}

static int jumps(int n) {
  with(&lock) {
    if (n)
      goto out;
    total++;
  }
  return 0;
out:
  return n;
}

static void breaks(int n) {
  with_once(&lock) {
    if (n)
      break;
    total++;
  }
}

static void releases(int n) {
  with(&lock) {
    if (n) {
      pthread_mutex_unlock(&lock);
      return;
    }
    total++;
  }
}

static int enters(int n) {
  if (n)
    goto inside;
  with(&lock) {
    total++;
  inside:
    n++;
  }
  return n;
}

static void empty(void) {
  with(&lock) {}
}

static void names(void) {
  for (int i = 0; i ? (pthread_mutex_unlock(&lock), 0) : (pthread_mutex_lock(&lock), 1); i = 1)
    total += i;
}

static void twice(void) {
  for (int i = 0; i < 2 ? (pthread_mutex_lock(&lock), 1) : 0; i++, pthread_mutex_unlock(&lock))
    total++;
}

static void while_work(int n) {
  for (int i = n; i ? (pthread_mutex_lock(&lock), 1) : 0; i = 0, pthread_mutex_unlock(&lock))
    total++;
}

static void indexed(void) {
  for (int i = 0; i ? (pthread_mutex_unlock(&locks[i - 1]), 0) : (pthread_mutex_lock(&locks[i]), 1);
       i = 1)
    total++;
}

#define COUNT(m) with(m) { total++; }
static void in_macro(void) { COUNT(&lock) }

int main(void) {
  returns(0), jumps(0), breaks(0), releases(0), empty(), names(), twice(), while_work(1);
  indexed(), in_macro(), enters(0);
  printf("%d\n", total);
  return 0;
}
