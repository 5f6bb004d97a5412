// SPDX-License-Identifier: MIT
// Sections of a function that calls setjmp hold, before it, behind it and around it.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (setjmp-around-a-section.c:[[#]])
// CHECK-NEXT: the function calls setjmp [jumps]
// CHECK:      hold straight bj (setjmp-around-a-section.c:[[#]])
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jmp_buf back;
static int total;
static void again(int n) { if (n < 3) longjmp(back, n + 1); }
static int work(void) {
  volatile int n = 0;
  int r = setjmp(back);
  n = r;
  pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
  again(n);
  return n;
}
static int bj(void) {
  void *buf[5];
  int r = 0;
  pthread_mutex_lock(&lock);
  if (__builtin_setjmp(buf) == 0)
    total++;
  pthread_mutex_unlock(&lock);
  return r;
}
int main(void) {
  printf("%d\n", work());
  printf("%d\n", bj());
  printf("%d\n", total);
  return 0;
}
