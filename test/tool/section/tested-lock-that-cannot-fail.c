// SPDX-License-Identifier: MIT
// The lock of a normal mutex does not fail: where its result is only tested for failure, the test goes,
// if nobody else would miss it. Otherwise the section holds.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// RUN: %rewritten %s | FileCheck %s --check-prefix=TEXT
// TEXT:      static int aborts(int n) {
// TEXT-NEXT:   struct aborts_section section = {.n = n};
// TEXT-NEXT:   relock_execute_any_thread(&lock, aborts_section, &section);
// TEXT-NEXT:   return 0;
// CHECK:      hold conditional errorcheck
// CHECK-NEXT: the result of the lock operation is used, and the mutex may check errors ({{.*}}:104) [tested-result]
// CHECK:      delegate straight aborts
// CHECK:      delegate early-exit returns
// CHECK:      delegate straight succeeds
// CHECK:      hold conditional jumps
// CHECK-NEXT: [tested-result]
// CHECK:      hold conditional uses
// CHECK-NEXT: [tested-result]
// CHECK:      hold conditional last_use
// CHECK-NEXT: [tested-result]
// CHECK:      7 lock sites: 3 delegate, 4 hold
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define unlikely(x) __builtin_expect(!!(x), 0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checked;
static int total;

static int aborts(int n) {
  if (pthread_mutex_lock(&lock) != 0)
    abort();
  total += n;
  if (unlikely(pthread_mutex_unlock(&lock))) {
    perror("unlock");
    return -1;
  }
  return 0;
}

static int returns(int n) {
  if (pthread_mutex_lock(&lock))
    return -1;
  if (n < 0) {
    if (0 != pthread_mutex_unlock(&lock))
      abort();
    return 1;
  }
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
}

static void succeeds(void) {
  if (pthread_mutex_lock(&lock) == 0) {
    total++;
    pthread_mutex_unlock(&lock);
  }
}

static int jumps(int n) {
  if (pthread_mutex_lock(&lock))
    goto fail;
  total += n;
  pthread_mutex_unlock(&lock);
  return 0;
fail:
  return -1;
}

static int uses(int n) {
  if (pthread_mutex_lock(&lock))
    return n;
  total++;
  pthread_mutex_unlock(&lock);
  return 0;
}

static void die(void) { abort(); }

static void last_use(void) {
  if (pthread_mutex_lock(&lock))
    die();
  total++;
  pthread_mutex_unlock(&lock);
}

static int errorcheck(int deep) {
  int result = 0;
  if (pthread_mutex_lock(&checked) != 0)
    return EDEADLK;
  if (deep)
    result = errorcheck(0);
  pthread_mutex_unlock(&checked);
  return result;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&checked, &attributes);
  for (int i = -3; i < 9; i++) {
    aborts(i), returns(i), jumps(i), uses(i), succeeds();
    last_use();
  }
  printf("%d %d\n", total, errorcheck(1) == EDEADLK);
  return 0;
}
