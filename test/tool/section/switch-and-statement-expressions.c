// SPDX-License-Identifier: MIT
// Sections behind case labels are delegated; a switch or loop inside keeps its own break and
// continue; a statement expression keeps its value.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight stmt (switch-and-statement-expressions.c:[[#]])
// CHECK:      delegate straight sw (switch-and-statement-expressions.c:[[#]])
// CHECK:      delegate early-exit sw (switch-and-statement-expressions.c:[[#]])
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int stmt(int n) {
  return ({
    int r;
    pthread_mutex_lock(&lock);
    total += n;
    r = total;
    pthread_mutex_unlock(&lock);
    r;
  });
}
static int sw(int n) {
  switch (n) {
    int k;
  case 1:
    pthread_mutex_lock(&lock);
    k = n;
    total += k;
    pthread_mutex_unlock(&lock);
    break;
  case 2: {
    int k = 3;
    pthread_mutex_lock(&lock);
    if (k == n) {
      pthread_mutex_unlock(&lock);
      break;
    }
    total += k;
    pthread_mutex_unlock(&lock);
  }
    /* fall through */
  default:
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++) {
      if (i == 1)
        continue;
      switch (i) {
      case 0:
        break;
      default:
        total += 100;
      }
    }
    pthread_mutex_unlock(&lock);
  }
  return total;
}
int main(void) {
  printf("%d\n", stmt(1));
  printf("%d\n", sw(1));
  printf("%d\n", sw(2));
  printf("%d\n", total);
  return 0;
}
