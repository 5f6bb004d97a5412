// SPDX-License-Identifier: MIT
// Arms that do nothing after their unlock need no exits, with and without braces.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int work_section(void *context) {
// CHECK:        if (n > 2) {
// CHECK-NEXT:     total += n;
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   } else
// CHECK-NEXT:     return 0;
// CHECK-NEXT: }
// CHECK:      static void work(int n) {
// CHECK:        relock_execute_any_thread(&lock, work_section, &section);
// CHECK-NEXT:   outside++;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, seen, outside;

static void work(int n) {
  pthread_mutex_lock(&lock);
  seen++;
  if (n > 2) {
    total += n;
    pthread_mutex_unlock(&lock);
  } else
    pthread_mutex_unlock(&lock);
  outside++;
}

int main(void) {
  for (int i = 0; i < 6; i++)
    work(i);
  printf("%d %d %d\n", total, seen, outside);
  return 0;
}
