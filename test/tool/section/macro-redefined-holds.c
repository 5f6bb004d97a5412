// SPDX-License-Identifier: MIT
// A section moves to before its function, where macros that the function defines are not known yet, and those
// that it changes mean something else. It holds if it uses one of them, or may in another configuration;
// what is defined there for others does not matter to it.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight changed (macro-redefined-holds.c:[[#]])
// CHECK-NEXT: uses 'STEP', which may be another macro where its function begins [preprocessor]
// CHECK-NEXT: hold straight changed_within_another
// CHECK-NEXT: uses 'STEP', which may be
// CHECK-NEXT: hold straight elsewhere
// CHECK-NEXT: uses 'WIDE', which may be
// CHECK-NEXT: hold straight undefined
// CHECK-NEXT: uses 'total', which may be
// CHECK-NEXT: hold straight pasted
// CHECK-NEXT: uses 'NAMED', which may be
// CHECK-NEXT: hold straight included
// CHECK-NEXT: uses 'CHAR_BIT', which may be
// CHECK-NEXT: hold straight conditional
// CHECK-NEXT: uses 'FAST', which may be
// CHECK-NEXT: hold straight commented
// CHECK-NEXT: a preprocessor directive stands between
// CHECK-NEXT: delegate straight another
// CHECK-NEXT: delegate straight behind
#include <pthread.h>
#include <stdio.h>
#define STEP 1
#define TWICE (2 * STEP)
#define LOG(text, ...) printf(text, ##__VA_ARGS__)
#define NAMED(first, second) first##second
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void changed(void) {
#undef STEP
#define STEP 2
  pthread_mutex_lock(&lock);
  total += STEP;
  pthread_mutex_unlock(&lock);
}

static void changed_within_another(void) {
#undef STEP
#define STEP 3
  pthread_mutex_lock(&lock);
  total += TWICE;
  pthread_mutex_unlock(&lock);
}

enum { WIDE = 10 };
static void elsewhere(void) {
#ifdef OTHER_MACHINE
#define WIDE 20
#endif
  pthread_mutex_lock(&lock);
  total += WIDE;
  pthread_mutex_unlock(&lock);
}

#define total total
static void undefined(void) {
#undef total
  pthread_mutex_lock(&lock);
  total += 5;
  pthread_mutex_unlock(&lock);
}

static void pasted(void) {
#define LOCAL 100
  pthread_mutex_lock(&lock);
  total += NAMED(LO, CAL);
  pthread_mutex_unlock(&lock);
}

static void included(void) {
#include <limits.h>
  pthread_mutex_lock(&lock);
  total += CHAR_BIT;
  pthread_mutex_unlock(&lock);
}

static void conditional(void) {
#define FAST 1
#if FAST
  pthread_mutex_lock(&lock);
  total += 7;
  pthread_mutex_unlock(&lock);
#endif
}

static void commented(void) {
#define /* here */ REMARK 1
  pthread_mutex_lock(&lock);
  total += 9;
  pthread_mutex_unlock(&lock);
}

static int another(int value) {
#define END goto end
  if (value < 0)
    END;
  pthread_mutex_lock(&lock);
  total += value;
  LOG("%d\n", total);
  pthread_mutex_unlock(&lock);
end:
  return value;
}

static void behind(void) {
  pthread_mutex_lock(&lock);
  total += STEP;
  pthread_mutex_unlock(&lock);
#define BEHIND 1
}

int main(void) {
  changed(), changed_within_another(), elsewhere(), undefined(), pasted();
  included(), conditional(), commented(), another(11), behind();
  printf("%d\n", total);
  return 0;
}
