// SPDX-License-Identifier: MIT
// A function whose head depends on the configuration: its sections stand before the groups of the
// preprocessor that take a part in it, or are in it. Where a group goes on in the body, the section
// holds.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s --implicit-check-not=body_section
// RUN: %rewritten %s -- -DKERNEL -DMORE | FileCheck %s
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

// CHECK:      static int add_section(
// CHECK:      }
// CHECK-EMPTY:
// CHECK-NEXT: /* Adds. */
// CHECK-NEXT: #if defined(KERNEL)
// CHECK-NEXT: int
// CHECK-NEXT: #else
// CHECK-NEXT: static int
// CHECK-NEXT: #endif
// CHECK-NEXT: add(int n) {
/* Adds. */
#if defined(KERNEL)
int
#else
static int
#endif
add(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  n = total;
  pthread_mutex_unlock(&lock);
  return n;
}

// CHECK:      static int twice_section(
// CHECK:      }
// CHECK-EMPTY:
// CHECK-NEXT: #ifdef NEVER
// CHECK-NEXT: # ifdef NESTED
// CHECK-NEXT: extern
// CHECK-NEXT: # endif
// CHECK-NEXT: int
// CHECK-NEXT: #else
// CHECK-NEXT: static int
// CHECK-NEXT: #endif
// CHECK-NEXT: twice(int n
// CHECK-NEXT: #ifdef MORE
#ifdef NEVER
# ifdef NESTED
extern
# endif
int
#else
static int
#endif
twice(int n
#ifdef MORE
      , int more
#endif
) {
  pthread_mutex_lock(&lock);
  total += 2 * n;
#ifdef MORE
  total += 7;
#endif
  pthread_mutex_unlock(&lock);
#ifdef MORE
  return more;
#else
  return n;
#endif
}

#ifdef NEVER
int body(long n) {
  n++;
#else
int body(int n) {
#endif
  pthread_mutex_lock(&lock);
  total -= n;
  pthread_mutex_unlock(&lock);
  return n;
}

int main(void) {
  printf("%d\n", add(3));
#ifdef MORE
  printf("%d\n", twice(4, 5));
#else
  printf("%d\n", twice(4));
#endif
  printf("%d\n", body(1));
  printf("%d\n", total);
  return 0;
}
