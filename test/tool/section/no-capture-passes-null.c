// SPDX-License-Identifier: MIT
// A section that needs no variable of its function has no context.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK-NOT:  struct count_section
// CHECK:      static int count_section(void *context) {
// CHECK-NEXT:   (void)context;
// CHECK:        calls++;
// CHECK:        relock_execute_any_thread(&lock, count_section, NULL);
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int calls;

static void count(void) {
  pthread_mutex_lock(&lock);
  calls++;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  count();
  count();
  printf("%d\n", calls);
  return 0;
}
