// SPDX-License-Identifier: MIT
// A recursive mutex can be locked by whoever asks: a wrapper that makes another code of the result,
// or a test of it, goes with the lock. One that may check errors can refuse, and its test stays.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra' --stats | FileCheck %s --check-prefix=STATS
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// CHECK:      checked (
// CHECK:        hold straight {{ *}}add_checked
// CHECK-NEXT:     takes a mutex here that may check errors
// CHECK:        hold conditional {{ *}}test_checked
// CHECK-NEXT:     the result of the lock operation is used, and the mutex may check errors ({{.*}}) [tested-result]
// CHECK:      plain (
// CHECK:        delegate straight {{ *}}add
// CHECK-NEXT:   delegate straight {{ *}}add_twice
// CHECK-NEXT:   delegate straight {{ *}}test
// TEXT:      static int add(int n) {
// TEXT:        relock_execute(&plain, add_section,
// TEXT:      static int test(int n) {
// TEXT-NOT:    mtx_lock
// TEXT:      }
// STATS: stats: plain {{.*}}executed={{[1-9]}}
#include <pthread.h>
#include <stdio.h>

enum { success, failure = 7 };

static pthread_mutex_t plain, checked;
static int total, others;

static void init(pthread_mutex_t *lock, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (type & 1)
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static int mtx_lock(pthread_mutex_t *lock) {
  return pthread_mutex_lock(lock) == 0 ? success : failure;
}

static int mtx_unlock(pthread_mutex_t *lock) {
  return pthread_mutex_unlock(lock) == 0 ? success : failure;
  ;
}

static int add(int n) {
  mtx_lock(&plain);
  total += n;
  mtx_unlock(&plain);
  return n;
}

static void add_twice(int n) {
  mtx_lock(&plain);
  total += n;
  add(n);
  mtx_unlock(&plain);
}

static int test(int n) {
  if (mtx_lock(&plain) != success)
    return -1;
  total -= n;
  mtx_unlock(&plain);
  return 0;
}

static void add_checked(int n) {
  pthread_mutex_lock(&checked);
  others += n;
  pthread_mutex_unlock(&checked);
}

static void test_checked(int n) {
  if (pthread_mutex_lock(&checked) != 0)
    return;
  others -= n;
  pthread_mutex_unlock(&checked);
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  init(&plain, 1);
  int last = 0;
  for (int n = 0; n < 10; n++) {
    last = add(n);
    add_twice(n);
    last += test(1);
    add_checked(n);
    test_checked(1);
  }
  printf("%d %d %d\n", total, others, last);
  return 0;
}
