// SPDX-License-Identifier: MIT
// A function that ends the program where the lock has *succeeded* is no lock wrapper. One that does more,
// and never unlocks, is not called a wrapper.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold cross-function checked_lock
// CHECK-NEXT: is a lock wrapper; its sections are listed where it is called [cross-function]
// CHECK:      hold cross-function inverted_lock
// CHECK-NEXT: is not unlocked in this function; its callers hold the lock [cross-function]
// CHECK:      hold cross-function inverted_assert
// CHECK-NEXT: is not unlocked in this function; its callers hold the lock [cross-function]
// CHECK:      hold cross-function begin
// CHECK-NEXT: is not unlocked in this function; its callers hold the lock [cross-function]
// CHECK:      hold straight dies_too
// CHECK-NEXT: the lock wrapper does more than to lock, or its lock cannot be named here [wrapper-effects]
// CHECK:      delegate straight lives
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void checked_lock(void) {
  int error = pthread_mutex_lock(&lock);
  if (error) {
    fprintf(stderr, "%d\n", error);
    abort();
  }
}

static void inverted_lock(void) {
  if (pthread_mutex_lock(&lock) == 0)
    exit(0);
}

static void inverted_assert(void) {
  int error = pthread_mutex_lock(&lock);
  error != 0 ? (void)0 : abort();
}

static void begin(void) {
  pthread_mutex_lock(&lock);
  total++;
}

static void dies(void) {
  inverted_lock();
  total++;
  pthread_mutex_unlock(&lock);
}

static void dies_too(void) {
  inverted_assert();
  total++;
  pthread_mutex_unlock(&lock);
}

static void lives(void) {
  checked_lock();
  total++;
  pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv) {
  lives();
  printf("%d %s\n", total, argc > 1 ? argv[1] : "");
  fflush(stdout);
  if (argc > 1) {
    dies_too();
    begin();
  }
  dies();
  return 0;
}
