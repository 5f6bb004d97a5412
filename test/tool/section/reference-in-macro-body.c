// SPDX-License-Identifier: MIT
// A macro body that names a local variable of its user: a variable that is only read keeps its
// name in the extracted function; one that is written there has a local of that name.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=REASON
// CHECK:        int amount = section->amount;
// CHECK:        total += DOUBLED;
// CHECK:      static int keep_section(
// CHECK:        int kept;
// CHECK:        KEEP;
// CHECK-NEXT:   *section->kept = kept;
// REASON:     delegate straight add
// REASON:     delegate straight keep
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
#define DOUBLED (2 * amount)
#define KEEP (kept = total + amount)

static int add(int amount, int factor) {
  int result;
  pthread_mutex_lock(&lock);
  total += DOUBLED;
  result = total * factor;
  pthread_mutex_unlock(&lock);
  return result;
}

static int keep(int amount) {
  int kept;
  pthread_mutex_lock(&lock);
  KEEP;
  pthread_mutex_unlock(&lock);
  return kept;
}

int main(void) {
  int added = add(3, 2);
  printf("%d %d\n", added, keep(1));
  return 0;
}
