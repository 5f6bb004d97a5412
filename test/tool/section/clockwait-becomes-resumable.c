// SPDX-License-Identifier: MIT
// pthread_cond_clockwait keeps its clock and its deadline.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:          while (!ready && *section->rc == 0) {
// CHECK-NEXT:       RELOCK_COND_CLOCKWAIT(&section->resume, &changed, CLOCK_MONOTONIC,
// CHECK-NEXT:           section->until, 1);
// CHECK-NEXT:       *section->rc = section->resume.error;
// CHECK-NEXT:     }
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static int wait(void) {
  int rc = 0;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += ready == 2 ? 0 : 100;
  pthread_mutex_lock(&lock);
  if (ready == 2)
    ready = 0;
  while (!ready && rc == 0)
    rc = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
  ready = 2;
  pthread_mutex_unlock(&lock);
  return rc;
}

static void *opener(void *unused) {
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, opener, NULL);
  int first = wait();
  pthread_join(thread, NULL);
  printf("%d %d\n", first, wait() == ETIMEDOUT);
  return 0;
}
