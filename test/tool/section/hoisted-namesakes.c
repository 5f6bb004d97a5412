// SPDX-License-Identifier: MIT
// A variable that is declared in the section and used after it is declared before it instead, though others
// of its name stand in other blocks, and in blocks of its own scope, where they hide it as they did. Not
// where its block names another one, which it would hide: a variable of a larger scope.
// RUN: %check_rewrite %s
// RUN: (%verdicts %s; true) | FileCheck %s --check-prefix=SITES
// RUN: %rewritten %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int items[8] = {1, 2, 3, 4, 5, 6, 7, 8};

// SITES-DAG:  delegate straight siblings (hoisted-namesakes.c:31)
// SITES-DAG:  delegate straight siblings (hoisted-namesakes.c:40)
// CHECK:      static int siblings(int n) {
// CHECK:        if (n < 4) {
// CHECK:          int *item;
// CHECK:          relock_execute
// CHECK:          for (int i = 0; i < n; i++) {
// CHECK-NEXT:       int item = i;
// CHECK:        } else if (n < 7) {
// CHECK:          int *item;
// CHECK:          relock_execute
// CHECK:        } else {
// CHECK-NEXT:     int item = 7;
static int siblings(int n) {
  int sum = 0;
  if (n < 4) {
    pthread_mutex_lock(&lock);
    int *item = &items[n];
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n; i++) {
      int item = i;
      sum += item;
    }
    sum += *item;
  } else if (n < 7) {
    pthread_mutex_lock(&lock);
    int *item = &items[n];
    pthread_mutex_unlock(&lock);
    sum += *item;
  } else {
    int item = 7;
    sum += item;
  }
  return sum;
}

// SITES-DAG:  hold {{.*}} hides (
// SITES-DAG:  'count' is declared in the section and used after it [declaration-outlives]
static int count = 3;
static int hides(int n) {
  int sum = count;
  if (n) {
    sum += count;
    pthread_mutex_lock(&second);
    items[0] += count;
    int count = items[n];
    pthread_mutex_unlock(&second);
    sum += count;
  }
  return sum;
}

int main(void) {
  for (int n = 0; n < 8; n++)
    printf("%d %d\n", siblings(n), hides(n));
  return 0;
}
