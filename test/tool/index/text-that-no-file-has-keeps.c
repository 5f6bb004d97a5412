// SPDX-License-Identifier: MIT
// What cannot be changed in any file keeps its class: the name of an operation that a macro pastes
// together, a type that is not spelled. Beside it, a macro that only takes the lock as an argument.
// RUN: %check_rewrite %s --algorithms=posix
// RUN: %verdicts %s | FileCheck %s
// CHECK:      as_argument (text-that-no-file-has-keeps.c:[[#]]): convert
// CHECK-NEXT: delegate straight
// CHECK-NEXT: like (text-that-no-file-has-keeps.c:[[#]]): keep
// CHECK-NEXT: is declared with a type that is not spelled 'pthread_…_t' [type-spelling]
// CHECK-NEXT: keep straight
// CHECK-NEXT: pasted (text-that-no-file-has-keeps.c:[[#]]): keep
// CHECK-NEXT: is locked by text that no file has [macro-text]
// CHECK:      3 lock sites: 1 delegate, 0 hold, 2 keep
#include <pthread.h>
#include <stdio.h>
#define OPERATE(What, Lock) pthread_mutex_##What(Lock)
#define LOCK(Lock) pthread_mutex_lock(Lock)

static pthread_mutex_t as_argument = PTHREAD_MUTEX_INITIALIZER;
static __typeof__(pthread_mutex_t) like = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pasted = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void operate(void) {
  OPERATE(lock, &pasted);
  total++;
  OPERATE(unlock, &pasted);
}

static void spell(void) {
  pthread_mutex_lock(&like);
  total++;
  pthread_mutex_unlock(&like);
}

static void argument(void) {
  LOCK(&as_argument);
  total++;
  pthread_mutex_unlock(&as_argument);
}

int main(void) {
  operate();
  spell();
  argument();
  printf("%d\n", total);
  return 0;
}
