// SPDX-License-Identifier: MIT
// What asks for the kernel's thread in a block that ends the process matters to nobody: its section is
// delegated. It matters in a block that the program may leave, and where the block is not left before it
// has waited.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight ensured
// CHECK-NEXT: delegate straight given_up
// CHECK-NEXT: delegate straight named
// CHECK-NEXT: delegate straight called
// CHECK-NEXT: hold straight goes_on
// CHECK-NEXT: calls 'backtrace', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold early-exit leaves
// CHECK-NEXT: calls 'backtrace', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight sometimes
// CHECK-NEXT: calls 'backtrace', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight exits
// CHECK-NEXT: calls 'backtrace', which is about the thread that runs it [kernel-thread]
// CHECK-NEXT: hold straight waits
// CHECK-NEXT: calls 'sleep', which may block [may-block]
#include <assert.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

#define DUMP()                                                                                     \
  do {                                                                                             \
    void *frames[8];                                                                               \
    int found = backtrace(frames, 8);                                                              \
    backtrace_symbols_fd(frames, found, 2);                                                        \
  } while (0)

#define ENSURE(x)                                                                                  \
  do {                                                                                             \
    if (!(x)) {                                                                                    \
      DUMP();                                                                                      \
      assert(0 && #x);                                                                             \
    }                                                                                              \
  } while (0)

#define DIE()                                                                                      \
  do {                                                                                             \
    DUMP();                                                                                        \
    fprintf(stderr, "%s\n", __func__);                                                             \
    abort();                                                                                       \
  } while (0)

static void ensured(int n) {
  pthread_mutex_lock(&lock);
  ENSURE(n > 0);
  total += n;
  pthread_mutex_unlock(&lock);
}

static void given_up(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    DUMP();
    abort();
  }
  total += n;
  pthread_mutex_unlock(&lock);
}

static void named(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    DIE();
  total += n;
  pthread_mutex_unlock(&lock);
}

static void check(int n) { ENSURE(n > 0); }

static void called(int n) {
  pthread_mutex_lock(&lock);
  check(n);
  total += n;
  pthread_mutex_unlock(&lock);
}

static void goes_on(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    DUMP();
  total += n;
  pthread_mutex_unlock(&lock);
}

static void leaves(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    DUMP();
    if (n == -1) {
      pthread_mutex_unlock(&lock);
      return;
    }
    abort();
  }
  total += n;
  pthread_mutex_unlock(&lock);
}

static void sometimes(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    DUMP();
    if (n == -1)
      abort();
  }
  total += n;
  pthread_mutex_unlock(&lock);
}

/* The handlers of exit() may do anything. */
static void exits(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    DUMP();
    exit(1);
  }
  total += n;
  pthread_mutex_unlock(&lock);
}

static void waits(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0) {
    sleep(1);
    abort();
  }
  total += n;
  pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
  for (int i = 1; i < 100; i++) {
    ensured(i);
    given_up(i);
    named(i);
    called(i);
    goes_on(i);
    leaves(i);
    sometimes(i);
    exits(i);
    waits(i);
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d\n", total);
  return 0;
}
