// SPDX-License-Identifier: MIT
// Variables that have become dereferences in every kind of expression: precedence, increments,
// sizeof, a division that must not open a comment, bit-fields, unions.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags=-Wall
// RUN: %rewritten %s | FileCheck %s
// CHECK:        section->f->b += n; section->f->a ^= 3;
// CHECK:      relock_execute_any_thread(&lock, work_section, &section);
// CHECK-NOT:  pthread_mutex_lock
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total = 7;
struct flags { unsigned a : 3, b : 5; };
union u { int i; unsigned char c[4]; };
static int work(int n, int *restrict p, char **text) {
  struct flags f = {1, 2};
  union u u;
  int x = 1, y = 2, z = 3;
  char buf[16];
  const char *s = "init";
  double d = 8;
  u.i = 0;
  memset(buf, 'x', sizeof(buf));
  buf[15] = 0;
  pthread_mutex_lock(&lock);
  f.b += n; f.a ^= 3;
  u.c[0] = n;
  x += y++ * --z, y <<= 1;
  z = n > 3 ? x : n > 2 ? y : z/x;
  *p = total/x;
  *p += -x - -y;
  x = -x; y = ~y; z = !z;
  p[0] += sizeof x + sizeof(y);
  d /= z ? 1 : 2;
  s = *text + 1; (*text)++;
  memcpy(&buf[1], s, strlen(s)); *buf = 'q';
  total = (int)d % 5;
  pthread_mutex_unlock(&lock);
  printf("%u %u %d %d %d %d %s %s %g %d\n", f.a, f.b, u.i, x, y, z, s, buf, d, *p);
  return x + y + z;
}
int main(void) {
  char t[] = "hello", *text = t;
  int p = 0;
  for (int i = 0; i < 5; i++)
    printf("%d\n", work(i, &p, &text));
  printf("%d\n", total);
  return 0;
}
