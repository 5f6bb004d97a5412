// SPDX-License-Identifier: MIT
// An index that a cast narrows may name another lock than the index itself.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold cross-function narrowed
// CHECK:      delegate straight equal
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int total;

static void narrowed(int i) {
  pthread_mutex_lock(&locks[(unsigned char)i]);
  total++;
  pthread_mutex_unlock(&locks[i]);
}

static void equal(int i) {
  pthread_mutex_lock(&locks[(unsigned char)i]);
  total++;
  pthread_mutex_unlock(&locks[(unsigned char)i]);
}

int main(void) {
  narrowed(1);
  equal(256);
  printf("%d\n", total);
  return 0;
}
