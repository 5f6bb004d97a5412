// SPDX-License-Identifier: MIT
// What runs where a lock or unlock fails may declare variables, as a macro that prints a backtrace
// does: they go with it. A static function that nothing else may name does not.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// RUN: %rewritten %s | FileCheck %s
// VERDICT:      delegate straight add
// VERDICT:      hold conditional names_a_function
// CHECK:        static int add_section(
// CHECK:          total += section->n;
// CHECK-NEXT:     return 0;
// CHECK:          relock_execute_any_thread(&lock, add_section, &section);
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABORT()                                                                                    \
  do {                                                                                             \
    void *frames[32];                                                                              \
    int count = backtrace(frames, 32);                                                             \
    backtrace_symbols_fd(frames, count, 2);                                                        \
    abort();                                                                                       \
  } while (0)
#define CHECKED(call, fail)                                                                        \
  do {                                                                                             \
    int ret = call;                                                                                \
    if (__builtin_expect(!!(ret), 0)) {                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, strerror(ret));                           \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void only_here(void) { abort(); }

static void add(int n) {
  CHECKED(pthread_mutex_lock(&lock), ABORT);
  total += n;
  CHECKED(pthread_mutex_unlock(&lock), ABORT);
}

static void names_a_function(int n) {
  CHECKED(pthread_mutex_lock(&lock), only_here);
  total += n;
  CHECKED(pthread_mutex_unlock(&lock), ABORT);
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    add(i);
    names_a_function(i);
  }
  printf("%d\n", total);
  return 0;
}
