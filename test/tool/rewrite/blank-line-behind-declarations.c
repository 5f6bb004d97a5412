// SPDX-License-Identifier: MIT
// The blank line that set the declarations of a block apart goes with the last of them.
// RUN: %check_rewrite %s --no-run
// RUN: %rewritten %s | FileCheck %s --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int list[8], sum, most;
// CHECK:     {{^}}void look(int first) {
// CHECK-NEXT:{{^}}  if (first < 0)
void look(int first) {
  int here;
  int *next;
  int n;

  if (first < 0)
    return;
  pthread_mutex_lock(&lock);
  here = list[first];
  next = &list[first + 1];
  for (n = here; n < *next; n++)
    sum += n;
  pthread_mutex_unlock(&lock);
}
// CHECK:     {{^}}int stays(int first) {
// CHECK-NEXT:{{^}}  int all = 0;
// CHECK-EMPTY:
// CHECK-NEXT:{{^}}  if (first < 0)
int stays(int first) {
  int here;
  int all = 0;
  int *next;

  if (first < 0)
    return all;
  pthread_mutex_lock(&lock);
  here = list[first];
  next = &list[first + 1];
  most = here > *next ? here : *next;
  pthread_mutex_unlock(&lock);
  return all;
}
