// SPDX-License-Identifier: MIT
// A function that the library calls back belongs to the section: this one counts in a
// thread-local variable, which must be the caller's.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      {{relock_execute|relock_mutex_lock}}(&lock
// CHECK-NOT:  relock_execute_any_thread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread long compared;
static long total;
static int numbers[8] = {5, 3, 8, 1, 9, 2, 7, 4};
static int compare(const void *a, const void *b) {
  compared++;
  return *(const int *)a - *(const int *)b;
}
static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < 20000; i++) {
    pthread_mutex_lock(&lock);
    total++;
    qsort(numbers, 8, sizeof(int), compare);
    pthread_mutex_unlock(&lock);
  }
  return (void *)compared;
}
int main(void) {
  pthread_t t[4];
  void *r[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], &r[i]);
  /* The first call sorts; all others compare 12 times. */
  int each = 0;
  for (int i = 0; i < 4; i++)
    each += (long)r[i] >= 20000 * 12 - 12 && (long)r[i] <= 20000 * 12 + 20;
  printf("%ld %d\n", total, each);
  return 0;
}
