// SPDX-License-Identifier: MIT
// The names that the rewrite adds hide no global of the function: this one uses `taken` behind
// the section.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK-NOT:  int taken =
// CHECK:      == 1) {
// CHECK:        taken++;
// CHECK-NEXT:   return taken;
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, taken;
static int work(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  if (n == 0) {
    pthread_mutex_unlock(&lock);
    return -2;
  }
  total += n;
  pthread_mutex_unlock(&lock);
  taken++;
  return taken;
}
int main(void) {
  printf("%d ", work(-1));
  printf("%d ", work(0));
  printf("%d ", work(1));
  printf("%d ", work(2));
  printf("%d %d\n", total, taken);
  return 0;
}
