// SPDX-License-Identifier: MIT
// A macro that makes nothing but text of a variable would print another name for it: a local of that name
// stands for it, unless others see the variable.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      delegate straight named
// CHECK:      delegate straight measured
// CHECK:      hold straight seen
// CHECK-NEXT: 'last' is named in a macro that makes text of it [macro-reference]
// TEXT:       static int named_section(
// TEXT:         int last;
// TEXT:         puts(NAME(last));
// TEXT-NEXT:    *section->last = last;
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

static int seen(int n) {
  static int last;
  pthread_mutex_lock(&lock);
  last = total += n;
  puts(NAME(last));
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
  int sum = named(1) + measured(2) + both(3) + seen(4);
  printf("%d %d\n", sum, total);
  return 0;
}
