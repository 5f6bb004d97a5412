// SPDX-License-Identifier: MIT
// A mutex that checks errors may be locked twice by a program that ignores the error. Such a
// section holds, whether the type comes from the initialiser, a constant or an unknown value; one
// that aborts is delegated, as is that of a recursive mutex.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK:      computed (
// CHECK-NEXT: hold straight use_computed
// CHECK-NEXT: takes a mutex here that may check errors (ignored-error-holds.c:[[#]]), and goes on where that fails [ignored-error]
// CHECK-NEXT: constant (
// CHECK-NEXT: hold straight use_constant
// CHECK-NEXT: [ignored-error]
// CHECK-NEXT: delegate straight use_constant_or_abort
// CHECK-NEXT: hold straight around_use_constant
// CHECK-NEXT: [releases-lock]
// CHECK-NEXT: recursive (
// CHECK-NEXT: delegate straight use_recursive
// CHECK-NEXT: written (
// CHECK-NEXT: hold straight use_written
// CHECK-NEXT: [ignored-error]
// CHECK-NEXT: hold straight uses_twice
// CHECK-NEXT: [ignored-error]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t written = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t constant;
static pthread_mutex_t computed;
static pthread_mutex_t recursive;
static int total;

static void use_written(void) {
  pthread_mutex_lock(&written);
  total++;
  pthread_mutex_unlock(&written);
}

static void uses_twice(void) {
  pthread_mutex_lock(&written);
  use_written();
  pthread_mutex_unlock(&written);
}

static void use_constant(void) {
  pthread_mutex_lock(&constant);
  total++;
  pthread_mutex_unlock(&constant);
}

static void use_constant_or_abort(void) {
  if (pthread_mutex_lock(&constant) != 0)
    abort();
  total++;
  pthread_mutex_unlock(&constant);
}

static void around_use_constant(void) {
  if (pthread_mutex_lock(&constant) != 0)
    abort();
  use_constant();
  total++;
  pthread_mutex_unlock(&constant);
}

static void use_computed(void) {
  pthread_mutex_lock(&computed);
  total++;
  pthread_mutex_unlock(&computed);
}

static void use_recursive(void) {
  pthread_mutex_lock(&recursive);
  total++;
  pthread_mutex_unlock(&recursive);
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_mutexattr_t checks, some, nests;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&constant, &checks);
  pthread_mutexattr_init(&some);
  pthread_mutexattr_settype(&some, argc > 0 ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_NORMAL);
  pthread_mutex_init(&computed, &some);
  pthread_mutexattr_init(&nests);
  pthread_mutexattr_settype(&nests, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &nests);
  uses_twice();
  use_written();
  use_constant();
  use_constant_or_abort();
  around_use_constant();
  use_computed();
  use_recursive();
  printf("%d\n", total);
  return 0;
}
