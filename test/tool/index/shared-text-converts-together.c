// SPDX-License-Identifier: MIT
// Locks that share a declaring macro or a typedef have to change together: naming one converts
// its group; an unrelated lock stays.
// RUN: %check_rewrite %s --lock hot=rcl --algorithms=rcl
// RUN: %rewritten %s --lock hot=rcl | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=GROUP
// CHECK:      #define DECLARE_LOCK(n) static relock_mutex_t n
// CHECK:      static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
// CHECK:        relock_execute_any_thread(&hot,
// CHECK:        relock_execute_any_thread(&cold,
// CHECK:        pthread_mutex_lock(&alone);
// GROUP-DAG:  converted together with {{.*}}cold
// GROUP-DAG:  converted together with {{.*}}hot
#include <pthread.h>
#include <stdio.h>

#define DECLARE_LOCK(n) static pthread_mutex_t n
DECLARE_LOCK(hot);
DECLARE_LOCK(cold);
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
static int total;

int main(void) {
  pthread_mutex_lock(&hot);
  total += 1;
  pthread_mutex_unlock(&hot);
  pthread_mutex_lock(&cold);
  total += 10;
  pthread_mutex_unlock(&cold);
  pthread_mutex_lock(&alone);
  total += 100;
  pthread_mutex_unlock(&alone);
  printf("%d\n", total);
  return 0;
}
