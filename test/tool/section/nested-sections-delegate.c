// SPDX-License-Identifier: MIT
// A section that takes another lock delegates, and so does the inner section, as a call in the
// function of the outer one.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:      static int move_section2(void *context) {
// CHECK-NEXT:   struct move_section2 *section = context;
// CHECK-EMPTY:
// CHECK-NEXT:   total += section->amount;
// CHECK-NEXT:   return 0;
// CHECK:      static int move_section(void *context) {
// CHECK-NEXT:   struct move_section *section = context;
// CHECK-EMPTY:
// CHECK-NEXT:   moved++;
// CHECK-NEXT:   struct move_section2 section2 = {.amount = section->amount};
// CHECK-NEXT:   relock_execute_any_thread(&inner, move_section2, &section2);
// CHECK-NEXT:   return 0;
// CHECK:      static void move(int amount) {
// CHECK-NEXT:   struct move_section section = {.amount = amount};
// CHECK-NEXT:   relock_execute(&outer, move_section, &section);
// CHECK-NEXT: }
// REASON:     inner
// REASON:       delegate straight move
// REASON:     outer
// REASON:       delegate nested move
// REASON:     2 lock sites: 2 delegate, 0 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int moved, total;

static void move(int amount) {
  pthread_mutex_lock(&outer);
  moved++;
  pthread_mutex_lock(&inner);
  total += amount;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
}

static void *work(void *unused) {
  for (int i = 0; i < 2000; i++)
    move(2);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", moved, total);
  return 0;
}
