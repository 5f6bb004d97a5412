// SPDX-License-Identifier: MIT
// Whether a macro makes text of its argument is asked of its definition at the use: later ones, and
// an #undef, say nothing.
// RUN: %check_rewrite %s --algorithms=ccsynch | FileCheck %s
// CHECK:      +  count += REPORT(m);
// CHECK-NEXT: +  *section->k += DEEP(n);
// CHECK:      +  count += MAKE(section->m);
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static const char *name;
#define REPORT(X) (name = #X, (X))
#define DEEP(X) REPORT(X)
static int work(int n) {
  int m = n + 1, k = n;
  pthread_mutex_lock(&lock);
  count += REPORT(m);
  k += DEEP(n);
  pthread_mutex_unlock(&lock);
  return m + n + k;
}
#undef REPORT
#undef DEEP
#define MAKE(X) (name = "a", (X))
static int other(int n) {
  int m = n + 1, k = 0;
  pthread_mutex_lock(&lock);
  count += MAKE(m);
  k += n;
  pthread_mutex_unlock(&lock);
  return m + n + k;
}
#undef MAKE
#define MAKE(X) (name = #X, (X))
int main(void) {
  int w = work(3);
  printf("%d %s %d\n", w, name, count);
  w = other(3);
  printf("%d %s %d\n", w, name, count);
  w = MAKE(1);
  printf("%d %s %d\n", w, name, count);
  return 0;
}
