// SPDX-License-Identifier: MIT
// `bool` is a macro before C23, and a type to those who use it: its variables move with their section,
// or before it. A macro that brings more than the type does not.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s -std=c11 | FileCheck %s
// RUN: %rewritten %s -- -std=c11 | FileCheck %s --check-prefix=TEXT
// CHECK: delegate straight later
// CHECK: delegate straight inner
// CHECK: hold straight whole
// CHECK: [declaration-outlives]
// TEXT-LABEL: static int inner_section(void *context) {
// TEXT:         bool odd;
// TEXT-LABEL: static int inner(int n) {
// TEXT-NEXT:    int sum = 0;
// TEXT:         relock_execute_any_thread(&lock, inner_section, &section);
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define COUNTER int
#define BOTH(a) int a = total; int twice_##a = 2 * total
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int later(int n) {
  pthread_mutex_lock(&lock);
  bool big = total > 10;
  COUNTER seen = total;
  total += n;
  pthread_mutex_unlock(&lock);
  return big ? seen : -seen;
}

static int inner(int n) {
  int sum = 0;
  bool odd;

  pthread_mutex_lock(&lock);
  odd = n % 2;
  if (odd)
    total++;
  sum += total + odd;
  pthread_mutex_unlock(&lock);
  return sum;
}

static int whole(int n) {
  pthread_mutex_lock(&lock);
  BOTH(sum);
  total += n + twice_sum;
  pthread_mutex_unlock(&lock);
  return sum;
}

int main(void) {
  for (int i = 0; i < 9; i++) {
    printf("%d ", later(i));
    printf("%d ", inner(i));
    printf("%d\n", whole(i));
  }
  return 0;
}
