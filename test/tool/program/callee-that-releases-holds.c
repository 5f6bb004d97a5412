// SPDX-License-Identifier: MIT
// A callee that lets go of the caller's lock for a while, or waits with it, holds the section.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// CHECK:      hold straight outer_release (callee-that-releases-holds.c:[[#]])
// CHECK-NEXT: calls 'pause_lock'{{.*}}'lock'{{.*}} [releases-lock]
// CHECK:      hold straight outer_wait
// CHECK:      calls 'wait_full'{{.*}}'lock'{{.*}} [releases-lock]
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int total, full;

static void pause_lock(void) {
  pthread_mutex_unlock(&lock);
  total += 10;
  pthread_mutex_lock(&lock);
}

static void wait_full(void) {
  while (!full)
    pthread_cond_wait(&filled, &lock);
}

static void outer_release(void) {
  pthread_mutex_lock(&lock);
  pause_lock();
  total++;
  pthread_mutex_unlock(&lock);
}

static void outer_wait(void) {
  pthread_mutex_lock(&lock);
  wait_full();
  total++;
  pthread_mutex_unlock(&lock);
}

static void *fill(void *unused) {
  pthread_mutex_lock(&lock);
  full = 1;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, fill, NULL);
  outer_wait();
  outer_release();
  pthread_join(thread, NULL);
  printf("%d\n", total);
  return 0;
}
