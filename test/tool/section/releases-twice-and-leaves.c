// SPDX-License-Identifier: MIT
// A section that releases its lock in two places and leaves in a third one returns a number for
// each. What follows the first two comes back to it; a return in there leaves the function.
// Declarations may have to come first.
// RUN: %check_rewrite %s
// RUN: %check_rewrite %s --flags="-std=gnu89 -Wdeclaration-after-statement"
// RUN: %rewritten %s | FileCheck %s
// RUN: %rewritten %s -- -std=gnu89 | FileCheck %s --check-prefix=OLD
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, outside;

// CHECK:      struct count_section {
// CHECK-NEXT:   int n;
// CHECK-NEXT:   int *seen;
// CHECK-NEXT:   int i;
// CHECK-NEXT:   int resume;
// CHECK-NEXT: };
// CHECK:      case 0:
// CHECK-NEXT:   for (section->i = 0; section->i < section->n; section->i++) {
// CHECK-NEXT:     if (section->i == 3) {
// CHECK-NEXT:       total++;
// CHECK-NEXT:       RELOCK_RETURN_TO(&section->resume, 1);
// CHECK-NEXT:       continue;
// CHECK-NEXT:     }
// CHECK-NEXT:     if (total > 20) {
// CHECK-NEXT:       return 3;
// CHECK-NEXT:     }
// CHECK-NEXT:     (*section->seen)++;
// CHECK-NEXT:     RELOCK_RETURN_TO(&section->resume, 2);
// CHECK-NEXT:     total += section->i;
// CHECK-NEXT:   }
// CHECK-NEXT:   total--;
// CHECK-NEXT: }
// CHECK-NEXT: return 0;
// CHECK:      int seen = 0;
// CHECK-NEXT: struct count_section section = {.n = n, .seen = &seen, .resume = 0};
// CHECK-NEXT: int taken;
// CHECK-NEXT: while ((taken = relock_execute_any_thread(&lock, count_section,
// CHECK-NEXT:     &section)) != 0 && taken <= 2) {
// CHECK-NEXT:   if (taken == 1) {
// CHECK-NEXT:     outside++;
// CHECK-NEXT:   } else {
// CHECK-NEXT:     if (outside > 100)
// CHECK-NEXT:       return -2;
// CHECK-NEXT:     outside += seen;
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: if (taken == 3) {
// CHECK-NEXT:   return -1;
// CHECK-NEXT: }
// CHECK-NEXT: return seen;
// OLD:        struct count_section section;
// OLD-NEXT:   int taken;
// OLD-NEXT:   section.n = n;
// OLD-NEXT:   section.seen = &seen;
// OLD-NEXT:   section.resume = 0;
// OLD-NEXT:   while ((taken = relock_execute_any_thread(&lock, count_section,
static int count(int n) {
  int i, seen = 0;
  pthread_mutex_lock(&lock);
  for (i = 0; i < n; i++) {
    if (i == 3) {
      total++;
      pthread_mutex_unlock(&lock);
      outside++;
      pthread_mutex_lock(&lock);
      continue;
    }
    if (total > 20) {
      pthread_mutex_unlock(&lock);
      return -1;
    }
    seen++;
    pthread_mutex_unlock(&lock);
    if (outside > 100)
      return -2;
    outside += seen;
    pthread_mutex_lock(&lock);
    total += i;
  }
  total--;
  pthread_mutex_unlock(&lock);
  return seen;
}

int main(void) {
  int n;
  for (n = 0; n < 12; n++) {
    int result = count(n);
    printf("%d %d %d\n", result, total, outside);
  }
  return 0;
}
