// SPDX-License-Identifier: MIT
// A lock under a constant variable of the function: the variable stays in use, in the call.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK: delegate straight main
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

int main(void) {
  const bool threaded = true;
  if (threaded)
    pthread_mutex_lock(&lock);
  count++;
  if (threaded)
    pthread_mutex_unlock(&lock);
  printf("%d\n", count);
  return 0;
}
