// SPDX-License-Identifier: MIT
// A section may end at pthread_cleanup_pop(1), whose handler releases its lock: the push stays around
// the call, for a thread that is cancelled in the section, and the pop has nothing more to do. The lock
// is taken directly before or behind the push. Other pops, and other handlers, end no section. A
// function with handlers calls no setjmp of its own.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK:      delegate straight before
// CHECK-NEXT: delegate straight behind
// CHECK-NEXT: delegate straight labelled
// CHECK-NEXT: delegate waiting waits
// CHECK-NEXT: delegate straight inside
// CHECK-NEXT: delegate straight cancelled
// CHECK-NEXT: hold cross-function perhaps
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK-NEXT: hold cross-function late
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK-NEXT: hold cross-function other
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK-NEXT: hold cross-function other
// CHECK-NEXT: is not unlocked in this function [cross-function]
// CHECK:      6 delegate, 4 hold
//      TEXT:static void before(int n) {
// TEXT-NEXT:  pthread_cleanup_push(release, &lock);
// TEXT-NEXT:  struct before_section section = {.n = n};
// TEXT-NEXT:  relock_execute_any_thread(&lock, before_section, &section);
// TEXT-NEXT:  pthread_cleanup_pop(0);
// TEXT-NEXT:}
//      TEXT:static int behind(int n) {
// TEXT-NEXT:  int result;
// TEXT-NEXT:  pthread_cleanup_push(release, &lock);
//      TEXT:  pthread_cleanup_pop(0);
// TEXT-NEXT:  return result;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, another = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int total;
static FILE *nowhere;
static volatile int started, stop;

static void release(void *mutex) { pthread_mutex_unlock(mutex); }
static void add(void *n) { total += *(int *)n; }

static void before(int n) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &lock);
  total += n;
  pthread_cleanup_pop(1);
}

static int behind(int n) {
  int result;
  pthread_cleanup_push(release, &lock);
  pthread_mutex_lock(&lock);
  total += n;
  result = total;
  pthread_cleanup_pop(1);
  return result;
}

static void labelled(int n) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &lock);
  if (n > 2)
    goto out;
  total += n;
out:
  pthread_cleanup_pop(1);
}

static void waits(void) {
  pthread_cleanup_push(release, &lock);
  pthread_mutex_lock(&lock);
  while (total < 0)
    pthread_cond_wait(&changed, &lock);
  total++;
  pthread_cleanup_pop(1);
}

static void inside(int n) {
  pthread_cleanup_push(add, &n);
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
  pthread_cleanup_pop(1);
}

static void *cancelled(void *unused) {
  pthread_cleanup_push(release, &lock);
  pthread_mutex_lock(&lock);
  started = 1;
  while (!stop)
    ;
  fputs("text", nowhere);
  fflush(nowhere);
  pthread_cleanup_pop(1);
  return unused;
}

static void perhaps(int n) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &lock);
  total += n;
  pthread_cleanup_pop(n < 100);
}

static void late(int n) {
  pthread_cleanup_push(release, &lock);
  total -= n < 0;
  pthread_mutex_lock(&lock);
  total += n;
  pthread_cleanup_pop(1);
}

static void other(int n) {
  pthread_mutex_lock(&another);
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &another);
  total += n;
  pthread_cleanup_pop(1);
  release(&lock);
}

int main(void) {
  nowhere = fopen("/dev/null", "w");
  before(1), printf("%d\n", behind(2)), labelled(2), labelled(3), waits(), inside(4);
  perhaps(1), late(1), other(1);
  pthread_t thread;
  pthread_create(&thread, NULL, cancelled, NULL);
  while (!started)
    ;
  pthread_cancel(thread);
  stop = 1;
  pthread_join(thread, NULL);
  before(1);
  printf("%d\n", total);
  pthread_cond_signal(&changed);
  return 0;
}
