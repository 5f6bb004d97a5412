// SPDX-License-Identifier: MIT
// The block of an `if` that only asks whether the lock is taken, and ends with the unlock, is a
// section: the `if` goes. What else stands in the condition or behind the unlock may run without the
// lock, and then the test stays.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate straight {{ *}}add
// CHECK-NEXT: delegate straight {{ *}}subtract
// CHECK-NEXT: delegate straight {{ *}}repeat
// CHECK-NEXT: hold {{ *}}straight {{ *}}leaves
// CHECK-NEXT:   returns with the lock held [held-at-exit]
// CHECK-NEXT: hold {{ *}}conditional {{ *}}goes_on
// CHECK-NEXT:   the result of the lock operation is used [tested-result]
// CHECK-NEXT: delegate straight {{ *}}otherwise
// CHECK-NEXT: hold {{ *}}conditional {{ *}}asks_more
// CHECK-NEXT:   the result of the lock operation is used [tested-result]
// CHECK-NEXT: hold {{ *}}straight {{ *}}says_more
// CHECK-NEXT:   the result of the lock operation is used, and text that goes with the test may do more [tested-result]
// CHECK-NEXT: hold {{ *}}conditional {{ *}}pauses
// CHECK:      tests of a lock's or unlock's result that delegated sections drop
// CHECK-NEXT:   entered-by-its-test.c:{{[0-9]+}}: in add
// TEXT:      static int add(int n) {
// TEXT-NEXT:   struct add_section section = {.n = n};
// TEXT-NEXT:   relock_execute{{[a-z_]*}}(&lock, add_section, &section);
// TEXT-NEXT:   return n;
// TEXT-NEXT: }
// TEXT:      static void subtract(int n) {
// TEXT-NEXT:   if (n > 1)
// TEXT-NEXT:     others--;
// TEXT-NEXT:   else {
// TEXT-NEXT:     struct subtract_section section = {.n = n};
// TEXT-NEXT:     relock_execute{{[a-z_]*}}(&lock, subtract_section, &section);
// TEXT-NEXT:   }
// TEXT-NEXT: }
// STATS: stats: lock held=19 executed=20
#include <pthread.h>
#include <stdio.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, others;

static int add(int n) {
  if (pthread_mutex_lock(&lock) == 0) {
    total += n;
    pthread_mutex_unlock(&lock);
  }
  return n;
}

static void subtract(int n) {
  if (n > 1)
    others--;
  else if (LIKELY(!pthread_mutex_lock(&lock))) {
    int twice = n * 2;

    total -= twice;
    /* Unlock. */
    pthread_mutex_unlock(&lock);
  }
}

static void repeat(int n) {
  while (n-- > 0)
    if (!pthread_mutex_lock(&lock)) {
      total++;
      pthread_mutex_unlock(&lock);
    }
}

static int leaves(int n) {
  if (!pthread_mutex_lock(&lock)) {
    if (n > 100)
      return n;
    total += n;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

static void goes_on(int n) {
  if (!pthread_mutex_lock(&lock)) {
    total += n;
    pthread_mutex_unlock(&lock);
    others++;
  }
}

static void otherwise(int n) {
  if (!pthread_mutex_lock(&lock)) {
    total += n;
    pthread_mutex_unlock(&lock);
  } else {
    others++;
  }
}

static void asks_more(int n) {
  if (n && !pthread_mutex_lock(&lock)) {
    total += n;
    pthread_mutex_unlock(&lock);
  }
}

static void says_more(int n) {
  if (!pthread_mutex_lock(&lock)) {
    total += n;
    pthread_mutex_unlock(&lock);
#ifdef AUDIT
    others++;
#endif
  }
}

static void pauses(int n) {
  if (!pthread_mutex_lock(&lock)) {
    total += n;
    pthread_mutex_unlock(&lock);
    others++;
    pthread_mutex_lock(&lock);
    total -= n;
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  for (int n = 0; n < 4; n++) {
    add(n);
    subtract(n);
    repeat(n);
    leaves(n);
    goes_on(n);
    otherwise(n);
    asks_more(n);
    says_more(n);
    pauses(n);
  }
  printf("%d %d\n", total, others);
  return 0;
}
