// SPDX-License-Identifier: MIT
// A macro without parameters names the class of the mutex that it initialises, where the macro below it is told; what
// it names may be several variables, which are one class then.
// RUN: %rewritten %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      1 wrapper of my own
// CHECK:      e = relock_mutex_init(m, NULL, lock_class);
// CHECK:      #define A_INIT INIT_CLASS(a, RELOCK_CLASS(a))
// CHECK:      #define LOCAL_INIT INIT_CLASS(own, RELOCK_CLASS(first_own))
// CHECK-LABEL: int main(void)
// CHECK:        A_INIT;
// CHECK-NEXT:   INIT_CLASS(b, RELOCK_CLASS(b));
// CHECK-NOT:  RELOCK_LOCK_CLASS(second_own
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
/* 1 wrapper of my own */
#define my_init(m)                                                                                 \
  do {                                                                                             \
    int e;                                                                                         \
    e = pthread_mutex_init(m, NULL);                                                               \
    if (e)                                                                                         \
      printf("%d\n", e), exit(1);                                                                  \
  } while (0)
#define INIT(m) my_init(&(m))
static pthread_mutex_t a, b;
#define A_INIT INIT(a)
#define LOCAL_INIT INIT(own)
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
static void first(void)
{
  static pthread_mutex_t own;
  LOCAL_INIT;
  pthread_mutex_lock(&own);
  k++;
  pthread_mutex_unlock(&own);
}
static void second(void)
{
  static pthread_mutex_t own;
  LOCAL_INIT;
  pthread_mutex_lock(&own);
  k += 2;
  pthread_mutex_unlock(&own);
}
static void again(void)
{
  A_INIT;
}
int main(void)
{
  A_INIT;
  INIT(b);
  again();
  add(1);
  sub(2);
  first();
  second();
  return printf("%d %d %d\n", n, m, k) < 0;
}
