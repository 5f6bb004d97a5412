// SPDX-License-Identifier: MIT
// A wrapper that returns the same number whenever it has done its work is one, and a test of that number goes
// with it; the number of another wrapper that hands it on is the same, or none.
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      hold cross-function take_turned (
// CHECK:      hold cross-function take_and_count (
// CHECK:      delegate straight plain (
// CHECK-NEXT: delegate straight tested (
// CHECK-NEXT: delegate straight handed_on (
// CHECK-NEXT: delegate straight dropped (
// CHECK-NEXT: hold {{.*}} steps (
// CHECK:      hold {{.*}} used (
// CHECK:      hold {{.*}} largest (
// CHECK:      hold {{.*}} narrowed (
// TEXT-LABEL: void plain(void)
// TEXT-NEXT:  {
// TEXT-NEXT:    relock_execute_any_thread(&l, plain_section, NULL);
// TEXT-NEXT:  }
// TEXT-LABEL: static int tested(int n)
// TEXT-NEXT:  {
// TEXT-NOT:   lock
// TEXT:         relock_execute
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int a, b, c, d, e, f, g;
int h, k;
#define FATAL(...)                                                                                 \
  do {                                                                                             \
    fprintf(stderr, __VA_ARGS__);                                                                  \
    return false;                                                                                  \
  } while (0)
static bool take(int *control, pthread_mutex_t *m)
{
  if (pthread_mutex_lock(m))
    FATAL("cannot lock %d\n", *control);
  return true;
}
static bool release(int *control, pthread_mutex_t *m)
{
  if (pthread_mutex_unlock(m))
    FATAL("cannot unlock %d\n", *control);
  return true;
}
static bool take_l(int *control) { return take(control, &l); }
static void take_it(int *control) { take(control, &l); }
/* As if it returned 0 where it has the lock. */
static int take_turned(int *control)
{
  if (take(control, &l))
    return 0;
  return -1;
}
void count(int *n) { (*n)++; }
static void take_and_count(int *control)
{
  if (take(control, &l))
    count(control);
}
void plain(void)
{
  take(&a, &l);
  a++;
  release(&a, &l);
}
static int tested(int n)
{
  if (!take(&n, &l))
    return -1;
  b += n;
  if (!release(&n, &l))
    return -1;
  return 0;
}
void handed_on(void)
{
  if (take_l(&c) != true)
    abort();
  c++;
  release(&c, &l);
}
void dropped(void)
{
  take_it(&d);
  d++;
  release(&d, &l);
}
void turned(void)
{
  if (take_turned(&e) != 0)
    return;
  e++;
  release(&e, &l);
}
/* The number decides more. */
int steps(void)
{
  if (take(&f, &l))
    f++;
  f++;
  release(&f, &l);
  return f;
}
int used(void)
{
  int has = take(&g, &l);
  g += has;
  release(&g, &l);
  return has;
}
/* Numbers are those of their types: -1 is the largest one here, … */
static unsigned take_largest(pthread_mutex_t *m)
{
  pthread_mutex_lock(m);
  return -1;
}
void largest(void)
{
  if (take_largest(&l) > 0)
    h++;
  h++;
  release(&h, &l);
}
/* … and 257 is 1 here. */
static int take_257(pthread_mutex_t *m)
{
  pthread_mutex_lock(m);
  return 257;
}
void narrowed(void)
{
  if ((unsigned char)take_257(&l) == 1)
    k++;
  k++;
  release(&k, &l);
}
void counted(void)
{
  take_and_count(&g);
  g++;
  release(&g, &l);
}
int main(void)
{
  plain();
  handed_on();
  dropped();
  turned();
  counted();
  largest();
  narrowed();
  if (tested(1) || steps() != 2 || used() != 1)
    return 1;
  return printf("%d %d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g, h, k) < 0;
}
