// SPDX-License-Identifier: MIT
// A static local of the function travels by address; one that the section declares goes with it, and
// two sections of equal text that declare one each keep two.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct outer_section {
// CHECK-NEXT:   int *calls;
// CHECK:      static int twice_section(void *context) {
// CHECK:        static int calls;
// CHECK:      static int twice_section2(void *context) {
// CHECK:        static int calls;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int outer(int n) {
  static int calls;
  pthread_mutex_lock(&lock);
  calls += n;
  total += calls;
  pthread_mutex_unlock(&lock);
  return calls;
}

static void twice(void) {
  pthread_mutex_lock(&lock);
  {
    static int calls;
    total += ++calls;
  }
  pthread_mutex_unlock(&lock);
  if (total > 10) {
    pthread_mutex_lock(&lock);
    {
      static int calls;
      total += ++calls;
    }
    pthread_mutex_unlock(&lock);
  }
}

int main(void) {
  for (int i = 0; i < 5; i++)
    twice(), printf("%d ", outer(i));
  printf("%d\n", total);
  return 0;
}
