// SPDX-License-Identifier: MIT
// An unlock followed by a function that does not return is an exit like any other.
// RUN: %check_rewrite %s --algorithms=posix,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:          return 1;
// CHECK:        if (relock_execute_any_thread(&lock, check_section, &section)) {
// CHECK-NEXT:     stop(limit);
// CHECK-NEXT:   }
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;

static _Noreturn void stop(int limit) {
  printf("over %d\n", limit);
  exit(0);
}

static int check(int limit, int step) {
  pthread_mutex_lock(&lock);
  if (level > limit) {
    pthread_mutex_unlock(&lock);
    stop(limit);
  }
  level += step;
  pthread_mutex_unlock(&lock);
  return step;
}

int main(void) {
  for (;;)
    printf("%d\n", check(5, 2));
}
