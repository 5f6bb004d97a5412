// SPDX-License-Identifier: MIT
// A macro that initialises, and that one use can tell no class, names one itself. Its other uses are written out; one
// that cannot be is of that class.
// RUN: %rewritten %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      e = relock_mutex_init(m, NULL, RELOCK_CLASS(a));
// CHECK:      #define CHECKED(...) my_init(__VA_ARGS__)
// CHECK:      CHECKED(&a);
// CHECK-NEXT: {{.*}}relock_mutex_init(&b, NULL, RELOCK_CLASS(b)); if
// CHECK-NEXT: INIT(c);
// CHECK-NOT:  RELOCK_LOCK_CLASS(c
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define my_init(m)                                                                                 \
  do {                                                                                             \
    int e;                                                                                         \
    e = pthread_mutex_init(m, NULL);                                                               \
    if (e)                                                                                         \
      printf("%d\n", e), exit(1);                                                                  \
  } while (0)
#define CHECKED(...) my_init(__VA_ARGS__)
#define INIT(m) my_init(&(m))
static pthread_mutex_t a, b, c;
static int n, m, k;
static void add(int by)
{
  pthread_mutex_lock(&a);
  n += by;
  pthread_mutex_unlock(&a);
}
static void sub(int by)
{
  pthread_mutex_lock(&b);
  m -= by;
  pthread_mutex_unlock(&b);
}
static void twice(void)
{
  pthread_mutex_lock(&c);
  k *= 2;
  pthread_mutex_unlock(&c);
}
int main(void)
{
  CHECKED(&a);
  my_init(&b);
  INIT(c);
  add(1);
  sub(2);
  twice();
  return printf("%d %d %d\n", n, m, k) < 0;
}
