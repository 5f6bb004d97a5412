// SPDX-License-Identifier: MIT
// _Bool is `bool` where <stdbool.h> has been included before, and where the program has no macro of
// that name that means something else.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      _Bool *before
// CHECK:      bool *after
// CHECK:      _Bool *other
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static _Bool first(int n) {
  _Bool before = 0;
  pthread_mutex_lock(&lock);
  total += n;
  before = total & 1;
  pthread_mutex_unlock(&lock);
  return before;
}
#include <stdbool.h>
static bool second(int n) {
  bool after = false;
  pthread_mutex_lock(&lock);
  total += n;
  after = total & 1;
  pthread_mutex_unlock(&lock);
  return after;
}
#undef bool
#define bool int
static bool third(int n) {
  _Bool other = 0;
  pthread_mutex_lock(&lock);
  total += n;
  other = total & 1;
  pthread_mutex_unlock(&lock);
  return other;
}
int main(void) {
  printf("%d", first(1));
  printf("%d", second(1));
  printf("%d\n", third(1));
  return 0;
}
