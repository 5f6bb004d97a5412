// SPDX-License-Identifier: MIT
// Static locks of one name in blocks of one function are as many locks: sections under one of them
// do not end at the unlock of another, and nest like those of locks with two names.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch --stats | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// VERDICT:      count.m:[[#OUTER:]] (
// VERDICT-NEXT:   delegate nested         count ({{.*}}.c:[[#OUTER + 1]])
// VERDICT-NEXT: count.m:[[#INNER:OUTER + 4]] (
// VERDICT-NEXT:   delegate straight       count ({{.*}}.c:[[#INNER + 1]])
// VERDICT:      4 lock sites: 4 delegate, 0 hold, 0 keep, 0 uncovered
// CHECK:        stats: static-locks-of-one-name.c:count.m:[[#]] held=0 executed=2
// CHECK:        stats: static-locks-of-one-name.c:count.m:[[#]] held=0 executed=1
// CHECK:        check-rewrite: ok
#include <pthread.h>
#include <stdio.h>

static int a, b;
static void count(int deep) {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  a++;
  if (deep) {
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    b++;
    pthread_mutex_unlock(&m);
  }
  a++;
  pthread_mutex_unlock(&m);
}

static void twins(int which) {
  if (which) {
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    a++;
    pthread_mutex_unlock(&m);
  } else {
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&m);
    b++;
    pthread_mutex_unlock(&m);
  }
}

int main(void) {
  count(1);
  count(0);
  twins(0);
  twins(1);
  printf("%d %d\n", a, b);
  return 0;
}
