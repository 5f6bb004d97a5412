// SPDX-License-Identifier: MIT
// Where a section is delegated, the test of its lock's result goes, in place or in a wrapper; `check`
// lists them. It goes where the lock cannot fail, or where the test only aborts, as the runtime does.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      checked (
// CHECK-NEXT: hold cross-function checked_lock_or_abort (dropped-tests-are-listed.c:[[#ABORT:]])
// CHECK-NEXT: [cross-function]
// CHECK-NEXT: hold cross-function checked_lock_or_panic
// CHECK-NEXT: [cross-function]
// CHECK-NEXT: delegate straight aborts_in_a_wrapper
// CHECK-NEXT: delegate straight aborts_in_place (dropped-tests-are-listed.c:[[#PLACE:]])
// CHECK-NEXT: delegate straight asserts (dropped-tests-are-listed.c:[[#ASSERT:]])
// CHECK-NEXT: hold straight panics_in_a_wrapper
// CHECK-NEXT: the lock wrapper does more than to lock, or its lock cannot be named here [wrapper-effects]
// CHECK-NEXT: hold conditional panics_in_place
// CHECK-NEXT: the result of the lock operation is used, and the mutex may check errors ({{.*}}:153) [tested-result]
// CHECK-NEXT: plain (
// CHECK-NEXT: hold cross-function plain_lock (dropped-tests-are-listed.c:[[#PLAIN:]])
// CHECK-NEXT: [cross-function]
// CHECK-NEXT: delegate straight one
// CHECK-NEXT: delegate straight other
// CHECK-NEXT: delegate early-exit in_place (dropped-tests-are-listed.c:[[#EARLY:]])
// CHECK-NEXT: delegate straight in_a_macro
// CHECK-NEXT: delegate straight in_a_macro_again
// CHECK-NEXT: delegate straight ignores
// CHECK-NEXT: 14 lock sites: 9 delegate, 5 hold
// CHECK-NEXT: tests of a lock's or unlock's result that delegated sections drop (relock explain tested-result):
// CHECK-NEXT: dropped-tests-are-listed.c:[[#ABORT-13]]: in LOCK, for 2 sections
// CHECK-NEXT: dropped-tests-are-listed.c:[[#ABORT-1]]: in checked_lock_or_abort, for 1 section{{$}}
// CHECK-NEXT: dropped-tests-are-listed.c:[[#PLAIN-1]]: in plain_lock, for 2 sections
// CHECK-NEXT: dropped-tests-are-listed.c:[[#PLACE]]: in aborts_in_place
// CHECK-NEXT: dropped-tests-are-listed.c:[[#ASSERT]]: in asserts
// CHECK-NEXT: dropped-tests-are-listed.c:[[#ASSERT+2]]: in asserts
// CHECK-NEXT: dropped-tests-are-listed.c:[[#EARLY]]: in in_place
// CHECK-NEXT: dropped-tests-are-listed.c:[[#EARLY+3]]: in in_place
// CHECK-NEXT: relock: exit status
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECKED(Call)                                                                              \
  do {                                                                                             \
    if ((Call) != 0)                                                                               \
      panic(#Call);                                                                                \
  } while (0)
#define LOCK(Lock) CHECKED(pthread_mutex_lock(Lock))

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checked;
static int total;

void panic(const char *text);
void panic(const char *text) {
  fputs(text, stderr);
  exit(1);
}

static void checked_lock_or_abort(void) {
  if (pthread_mutex_lock(&checked) != 0)
    abort();
}

static void checked_lock_or_panic(void) {
  if (pthread_mutex_lock(&checked) != 0)
    panic("lock\n");
}

static void plain_lock(void) {
  if (pthread_mutex_lock(&plain) != 0)
    panic("lock\n");
}

static void aborts_in_a_wrapper(void) {
  checked_lock_or_abort();
  total++;
  pthread_mutex_unlock(&checked);
}

static void aborts_in_place(void) {
  if (pthread_mutex_lock(&checked) != 0)
    abort();
  total++;
  pthread_mutex_unlock(&checked);
}

static void asserts(void) {
  assert(pthread_mutex_lock(&checked) == 0);
  total++;
  assert(pthread_mutex_unlock(&checked) == 0);
}

static void panics_in_a_wrapper(void) {
  checked_lock_or_panic();
  total++;
  pthread_mutex_unlock(&checked);
}

static void panics_in_place(void) {
  if (pthread_mutex_lock(&checked) != 0)
    panic("lock\n");
  total++;
  pthread_mutex_unlock(&checked);
}

static void one(void) {
  plain_lock();
  total++;
  pthread_mutex_unlock(&plain);
}

static void other(void) {
  plain_lock();
  total--;
  pthread_mutex_unlock(&plain);
}

static int in_place(int n) {
  if (pthread_mutex_lock(&plain) != 0)
    panic("lock\n");
  if (n) {
    if (pthread_mutex_unlock(&plain) != 0)
      panic("unlock\n");
    return n;
  }
  total++;
  pthread_mutex_unlock(&plain);
  return total;
}

static void in_a_macro(void) {
  LOCK(&plain);
  total++;
  pthread_mutex_unlock(&plain);
}

static void in_a_macro_again(void) {
  LOCK(&plain);
  total--;
  pthread_mutex_unlock(&plain);
}

static void ignores(void) {
  (void)pthread_mutex_lock(&plain);
  total++;
  pthread_mutex_unlock(&plain);
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  aborts_in_a_wrapper();
  aborts_in_place();
  asserts();
  panics_in_a_wrapper();
  panics_in_place();
  one();
  other();
  in_a_macro();
  in_a_macro_again();
  ignores();
  printf("%d %d\n", in_place(0), in_place(3));
  return 0;
}
