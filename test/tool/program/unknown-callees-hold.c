// SPDX-License-Identifier: MIT
// Code that the tool cannot see holds a section: functions outside the program, calls through
// pointers, fork, longjmp.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --no-run
// CHECK:      hold straight outside (unknown-callees-hold.c:[[#]])
// CHECK-NEXT: calls 'library_call', which is not in the program [unknown-callee]
// CHECK:      hold straight through_pointer
// CHECK-NEXT: calls through a pointer, which is not followed [indirect-call]
// CHECK:      hold straight in_callee
// CHECK-NEXT: 'apply' calls through a pointer, which is not followed [indirect-call]
// CHECK:      hold straight forks
// CHECK-NEXT: calls 'fork'{{.*}} [jumps]
// CHECK:      hold straight jumps
// CHECK-NEXT: calls '{{_?}}longjmp'{{.*}} [jumps]
// CHECK:      0 delegate, 5 hold
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

int library_call(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
jmp_buf back;

static void apply(int (*f)(int)) { total = f(total); }

void outside(void) {
  pthread_mutex_lock(&lock);
  total = library_call(total);
  pthread_mutex_unlock(&lock);
}

void through_pointer(int (*f)(int)) {
  pthread_mutex_lock(&lock);
  total = f(total);
  pthread_mutex_unlock(&lock);
}

void in_callee(int (*f)(int)) {
  pthread_mutex_lock(&lock);
  apply(f);
  pthread_mutex_unlock(&lock);
}

void forks(void) {
  pthread_mutex_lock(&lock);
  total += fork() == 0;
  pthread_mutex_unlock(&lock);
}

void jumps(void) {
  pthread_mutex_lock(&lock);
  if (total)
    longjmp(back, 1);
  pthread_mutex_unlock(&lock);
}
