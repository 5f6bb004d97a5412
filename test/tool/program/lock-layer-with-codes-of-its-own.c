// SPDX-License-Identifier: MIT
// A program's own lock functions, which return 0 where those of POSIX do, and else an error of the
// program's: its locks stay as many classes, and sections are delegated through the functions. So they
// are where success is another number, by a wrapper that is no such function.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK: first (
// CHECK:      delegate early-exit     add (
// CHECK: odd (
// CHECK:      delegate straight       odd_add (
// CHECK: second (
// CHECK:      delegate straight       sub (
// CHECK: third (
// CHECK:      delegate straight       last (
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef pthread_mutex_t my_mutex;
#define BAD_MUTEX_E -106

static int my_init(my_mutex *m) {
  if (pthread_mutex_init(m, 0) == 0)
    return 0;
  else
    return BAD_MUTEX_E;
}

static int my_lock(my_mutex *m) {
  if (pthread_mutex_lock(m) == 0)
    return 0;
  else
    return BAD_MUTEX_E;
}

static int my_unlock(my_mutex *m) {
  do {
    if (pthread_mutex_unlock(m) == 0)
      return 0;
  } while (0);
  return BAD_MUTEX_E;
}

static int my_odd_lock(my_mutex *m) {
  if (pthread_mutex_lock(m) == 0)
    return 1;
  return 0;
}

static void my_void_unlock(my_mutex *m) {
  if (pthread_mutex_unlock(m) == 0)
    return;
  abort();
}

static my_mutex first, second, third, odd;
static int n, k;

static int add(int by) {
  if (my_lock(&first) != 0)
    return BAD_MUTEX_E;
  n += by;
  if (n > 5) {
    my_unlock(&first);
    return 1;
  }
  n *= 2;
  my_unlock(&first);
  return 0;
}

static int sub(int by) {
  if (my_lock(&second) != 0) {
    return BAD_MUTEX_E;
  }
  k -= by;
  my_void_unlock(&second);
  return 0;
}

static int odd_add(int by) {
  if (!my_odd_lock(&odd))
    return -1;
  k += by;
  return my_unlock(&odd);
}

static void last(void) {
  my_lock(&third);
  k++;
  my_unlock(&third);
}

int main(void) {
  // TEXT: if (relock_mutex_init(&first, NULL, RELOCK_CLASS(first)) != 0 ||
  if (my_init(&first) != 0 || my_init(&second) != 0 || my_init(&third) || my_init(&odd))
    return 1;
  printf("%d ", add(2));
  printf("%d ", add(9));
  printf("%d ", sub(2));
  printf("%d ", odd_add(8));
  last();
  printf("%d %d\n", n, k);
  return 0;
}
