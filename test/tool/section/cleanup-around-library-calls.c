// SPDX-License-Identifier: MIT
// A section between a push and its pop that only prints ends at the pop like others;
// handlers that a callee pushes and pops are calls of the handlers, no more.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK: delegate straight prints
// CHECK: delegate straight calls
// CHECK: delegate straight inside
// CHECK: hold straight blocks
// CHECK-NEXT: 'waits' calls 'sleepy' calls 'sleep', which may block [may-block]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }
static void drop(void *text) { free(text); }
static void sleepy(void *n) { sleep(*(int *)n); }

static void prints(int n) {
  pthread_cleanup_push(unlock, &lock);
  pthread_mutex_lock(&lock);
  printf("%d ", n);
  pthread_cleanup_pop(1);
}

static int copies(int n) {
  int size;
  char *text = malloc(40);
  pthread_cleanup_push(drop, text);
  size = snprintf(text, 40, "%d", n);
  pthread_cleanup_pop(1);
  return size;
}

static void report(int n) {
  static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  pthread_cleanup_push((void *)pthread_mutex_unlock, &other);
  pthread_mutex_lock(&other);
  printf("(%d) ", n);
  pthread_cleanup_pop(1);
}

static void waits(int n) {
  pthread_cleanup_push(sleepy, &n);
  total++;
  pthread_cleanup_pop(1);
}

static void calls(int n) {
  pthread_mutex_lock(&lock);
  total += copies(n);
  report(n);
  pthread_mutex_unlock(&lock);
}

static void inside(int n) {
  pthread_mutex_lock(&lock);
  char *text = malloc(40);
  pthread_cleanup_push(drop, text);
  total += snprintf(text, 40, "%d", n);
  pthread_cleanup_pop(1);
  pthread_mutex_unlock(&lock);
}

static void blocks(int n) {
  pthread_mutex_lock(&lock);
  waits(n);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  for (int i = 0; i < 30; i++) {
    prints(i);
    calls(i);
    inside(i);
  }
  blocks(0);
  printf("%d\n", total);
  return 0;
}
