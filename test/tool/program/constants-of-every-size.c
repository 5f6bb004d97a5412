// SPDX-License-Identifier: MIT
// A constant that no 64 bits with a sign can hold, given to a function without a prototype, whose
// parameter may be a clock.
// RUN: %verdicts %s -std=gnu11 | FileCheck %s
// CHECK:      delegate straight large (
// CHECK-NEXT: hold straight truncated (
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec now;
static unsigned long seed;

static int seeded() { return seed != 0; }
static void ask(clockid_t clock) { clock_gettime(clock, &now); }

void large(void) {
  pthread_mutex_lock(&lock);
  seeded(0xffffffffffffffffUL);
  pthread_mutex_unlock(&lock);
}

/* The thread's clock, once it is an int. */
void truncated(void) {
  pthread_mutex_lock(&lock);
  ask((clockid_t)0x100000003);
  ask(0x100000003);
  pthread_mutex_unlock(&lock);
}
