// SPDX-License-Identifier: MIT
// A macro that makes nothing but text of a variable would print another name for it.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight named
// CHECK-NEXT: 'last' is named in a macro that makes text of it [macro-reference]
// CHECK:      hold straight measured
// CHECK-NEXT: 'last' is named in a macro that makes text of it [macro-reference]
// CHECK:      delegate straight both
#include <pthread.h>
#include <stdio.h>
#define NAME(x) #x
#define LENGTH(x) (int)(sizeof NAME(x) - 1)
#define SHOW(x) printf("%s=%d\n", #x, x)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int named(int n) {
  int last = 0;
  pthread_mutex_lock(&lock);
  last = total += n;
  puts(NAME(last));
  pthread_mutex_unlock(&lock);
  return last;
}

static int measured(int n) {
  int last = 0;
  pthread_mutex_lock(&lock);
  last = total += n;
  total += (LENGTH((last)));
  pthread_mutex_unlock(&lock);
  return last;
}

static int both(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  SHOW(n);
  pthread_mutex_unlock(&lock);
  return n;
}

int main(void) {
  int sum = named(1) + measured(2) + both(3);
  printf("%d %d\n", sum, total);
  return 0;
}
