// SPDX-License-Identifier: MIT
// Words before a function that are nothing in this configuration are a part of it: no other function goes in between.
// RUN: %rewritten %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      static int add_section(void *context)
// CHECK:      {{^}}/* Adds. */
// CHECK-NEXT: EXPORT int add(int by)
// CHECK:      {{^}}typedef int number;
// CHECK:      {{^}}EXPORT CALL(fast) number sub(number by)
// CHECK:      {{^}}   two lines. */
// CHECK:      {{^}}EXPORT KEPT("mul") int mul(int by)
// CHECK:      {{^}}/* Divides. */ EXPORT int divide(int by)
#include <pthread.h>
#include <stdio.h>
#define EXPORT
#define CALL(how)
#define KEPT(name)
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int n;
/* Adds. */
EXPORT int add(int by)
{
  pthread_mutex_lock(&l);
  n += by;
  pthread_mutex_unlock(&l);
  return 0;
}
typedef int number; EXPORT CALL(fast) number sub(number by)
{
  pthread_mutex_lock(&l);
  n -= by;
  pthread_mutex_unlock(&l);
  return 0;
}
/* Multiplies, in
   two lines. */ EXPORT KEPT("mul") int mul(int by)
{
  pthread_mutex_lock(&l);
  n *= by;
  pthread_mutex_unlock(&l);
  return 0;
}
/* Divides. */ EXPORT int divide(int by)
{
  pthread_mutex_lock(&l);
  n /= by;
  pthread_mutex_unlock(&l);
  return 0;
}
int main(void)
{
  add(9);
  sub(1);
  mul(2);
  divide(4);
  return printf("%d\n", n) < 0;
}
