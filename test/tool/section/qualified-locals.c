// SPDX-License-Identifier: MIT
// Volatile and static locals are used in place; const and register ones are copied without the
// qualifier getting in the way.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK-DAG:    volatile int *tries;
// CHECK-DAG:    int *calls;
// CHECK-DAG:    int limit;
// CHECK-DAG:    int step;
// CHECK-DAG:    const char *name;
// CHECK:        static int calls;
// CHECK-NEXT:   const int limit = 2;
// CHECK-NEXT:   register int step = 3;
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int count(const char *name) {
  static int calls;
  const int limit = 2;
  register int step = 3;
  volatile int tries = 0;
  pthread_mutex_lock(&lock);
  while (tries < limit)
    tries++;
  calls++;
  total += step + (int)strlen(name);
  pthread_mutex_unlock(&lock);
  return 10 * calls + tries;
}

int main(void) {
  int one = count("a"), two = count("bc");
  printf("%d %d %d\n", one, two, total);
  return 0;
}
