// SPDX-License-Identifier: MIT
// A section that stands in the body of a macro cannot be moved: it holds.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:        relock_mutex_lock(&lock); \
// CHECK-NEXT:   (counter)++; \
// CHECK-NEXT:   relock_mutex_unlock(&lock); \
// CHECK:        COUNT(hits);
// REASON:     hold straight hit (section-in-macro-holds.c:[[#LINE:]])
// REASON-NEXT: section-in-macro-holds.c:[[#LINE]]: part of the section stands in a macro [macro-section]
// REASON:     relock: exit status 1
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

#define COUNT(counter) do { \
  pthread_mutex_lock(&lock); \
  (counter)++; \
  pthread_mutex_unlock(&lock); \
} while (0)

static void hit(void) {
  COUNT(hits);
}

int main(void) {
  hit();
  printf("%d\n", hits);
  return 0;
}
