// SPDX-License-Identifier: MIT
// A variable that may be unset when the section begins is not read to fill the context: gcc's
// -Wall would say so.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK-NOT:  .best = best,
// CHECK-NOT:  .best = best}
// CHECK:      RELOCK_LOCK_CLASS
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[4] = {3, 9, 2, 4}, largest;
static int work(int n) {
  int best, i, found = 0;
  pthread_mutex_lock(&lock);
  for (i = 0; i < n; i++)
    if (!found || values[i] > best) {
      best = values[i];
      found = 1;
    }
  if (found)
    largest = best;
  pthread_mutex_unlock(&lock);
  return found;
}
int main(void) {
  printf("%d\n", work(4));
  printf("%d\n", largest);
  return 0;
}
