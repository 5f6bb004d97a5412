// SPDX-License-Identifier: MIT
// A section that declares what is used behind it stands where the text of the section around it
// changes, and holds; the one around it delegates.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG: hold straight hoisted
// CHECK-DAG: hold straight kept
// CHECK-DAG: where that one's own text changes [nested]
// CHECK-DAG: delegate nested hoisted
// CHECK-DAG: delegate nested kept
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int total, limit = 5;

static int hoisted(int n) {
  pthread_mutex_lock(&outer);
  total += n;
  pthread_mutex_lock(&inner);
  int seen = limit;
  limit++;
  pthread_mutex_unlock(&inner);
  total += seen;
  pthread_mutex_unlock(&outer);
  return n + seen;
}

static int kept(int n) {
  pthread_mutex_lock(&outer);
  int seen = total;
  pthread_mutex_lock(&inner);
  int more = limit + seen;
  limit++;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
  return n + seen + more;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    printf("%d\n", hoisted(i));
    printf("%d\n", kept(i));
  }
  printf("%d %d\n", total, limit);
  return 0;
}
