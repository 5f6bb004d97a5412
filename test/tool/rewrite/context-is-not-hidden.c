// SPDX-License-Identifier: MIT
// The parameter of the extracted function hides no global that a macro names.
// RUN: %check_rewrite %s --algorithms=ccsynch
// RUN: %rewritten %s | FileCheck %s
// CHECK:      work_section(void *{{(context)?[^c)]+}})
// CHECK:        COUNT();
#include <pthread.h>
#include <stdio.h>
#define COUNT() (++*context)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number;
static int *context = &number;
static int work(int n) {
  int local = n;
  pthread_mutex_lock(&lock);
  COUNT();
  local++;
  pthread_mutex_unlock(&lock);
  return local;
}
int main(void) {
  printf("%d\n", work(1));
  printf("%d\n", number);
  return 0;
}
