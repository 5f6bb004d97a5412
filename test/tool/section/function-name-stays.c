// SPDX-License-Identifier: MIT
// A section may name its function: in the extracted one the name goes on meaning the one that it stood
// in, whichever of its names is used, in the text or in a macro, and in a section within it. A function
// whose name depends on the configuration has no name to write.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %check_rewrite %s --flags="-Wall -Wextra -Wno-unused-function -DMODULE" --algorithms=rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// CHECK:      delegate straight outer
// CHECK:      delegate straight add
// CHECK-NEXT: delegate straight twice
// CHECK-NEXT: delegate straight twice
// CHECK-NEXT: delegate nested outer
// CHECK-NEXT: hold straight reset
// CHECK-NEXT: uses the name of its function (__func__) [function-name]
//      TEXT:/* Messages name the function that this section is from. */
// TEXT-NEXT:#define __func__ "add"
// TEXT-NEXT:static int add_section(void *context) {
//      TEXT:  printf("%s %d\n", __func__, total);
// TEXT-NEXT:  return 0;
// TEXT-NEXT:}
// TEXT-NEXT:#undef __func__
// TEXT-EMPTY:
// TEXT-NEXT:void add(int n) {
//      TEXT:#define __FUNCTION__ "twice"
// TEXT-NEXT:#define __func__ "twice"
// TEXT-NEXT:static int twice_section(void *context) {
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int total;

#define LOG(n) printf("%s:%s %d %d\n", __FUNCTION__, __func__, (int)sizeof(__func__), n)
#ifdef MODULE
#define reset module_reset
#else
#define reset plain_reset
#endif

void add(int n) {
  pthread_mutex_lock(&lock);
  total += n;
  printf("%s %d\n", __func__, total);
  pthread_mutex_unlock(&lock);
}

void twice(void) {
  pthread_mutex_lock(&lock);
  LOG(total++);
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  LOG(total++);
  pthread_mutex_unlock(&lock);
}

void outer(void) {
  pthread_mutex_lock(&lock);
  LOG(1);
  pthread_mutex_lock(&inner);
  LOG(2);
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&lock);
}

void reset(void) {
  pthread_mutex_lock(&lock);
  total = __func__[0];
  pthread_mutex_unlock(&lock);
}

int main(void) {
  add(3);
  twice();
  outer();
  reset();
  printf("%s %d\n", __func__, total);
  return 0;
}
