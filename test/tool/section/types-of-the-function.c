// SPDX-License-Identifier: MIT
// A type that the function declares holds only the sections that use it without declaring it: in a
// variable, a cast, a size, or as an enumerator.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight unused
// CHECK:      delegate straight moves
// CHECK:      hold straight variable
// CHECK-NEXT: has a type that cannot be written outside its function [local-type]
// CHECK:      hold straight cast
// CHECK-NEXT: uses a type that only its function knows [local-type]
// CHECK:      hold straight size
// CHECK-NEXT: uses a type that only its function knows [local-type]
// CHECK:      hold straight enumerator
// CHECK-NEXT: 'LAST' is not declared before its function [declared-late]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int unused(int n) {
  struct here {
    int x;
  } h = {n};
  pthread_mutex_lock(&lock);
  total += n;
  pthread_mutex_unlock(&lock);
  return h.x;
}

static void moves(int n) {
  pthread_mutex_lock(&lock);
  {
    struct here {
      int x;
    } h = {n};
    total += h.x + (int)sizeof(struct here);
  }
  pthread_mutex_unlock(&lock);
}

static int variable(int n) {
  struct here {
    int x;
  } h = {n};
  pthread_mutex_lock(&lock);
  total += h.x;
  pthread_mutex_unlock(&lock);
  return h.x;
}

static void cast(int n) {
  typedef short narrow;
  pthread_mutex_lock(&lock);
  total += (narrow)n;
  pthread_mutex_unlock(&lock);
}

static void size(void) {
  struct here {
    int x;
  };
  pthread_mutex_lock(&lock);
  total += sizeof(struct here);
  pthread_mutex_unlock(&lock);
}

static void enumerator(void) {
  enum { FIRST, LAST };
  pthread_mutex_lock(&lock);
  total += LAST;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  moves(1), cast(70000), size(), enumerator();
  int first = unused(2), second = variable(3);
  printf("%d %d %d\n", first, second, total);
  return 0;
}
