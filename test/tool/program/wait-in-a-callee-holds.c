// SPDX-License-Identifier: MIT
// A callee that waits on a condition variable, with whatever lock, would put a server to sleep.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight take (wait-in-a-callee-holds.c:[[#]])
// CHECK:      delegate straight other
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready, na, nc;
static void wait_ready(void) {
  pthread_mutex_lock(&b);
  while (!ready)
    pthread_cond_wait(&cond, &b);
  ready = 0;
  pthread_mutex_unlock(&b);
}
static void take(void) {
  pthread_mutex_lock(&a);
  wait_ready();
  na++;
  pthread_mutex_unlock(&a);
}
static void other(void) {
  pthread_mutex_lock(&c);
  nc++;
  pthread_mutex_unlock(&c);
}
static void make_ready(void) {
  pthread_mutex_lock(&b);
  ready = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&b);
}
static void *run(void *unused) {
  for (int i = 0; i < 200; i++)
    take();
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, run, NULL);
  for (int i = 0; i < 200; i++) {
    usleep(100);
    for (int j = 0; j < 10; j++)
      other();
    for (;;) {
      int r;
      pthread_mutex_lock(&b);
      r = ready;
      pthread_mutex_unlock(&b);
      if (!r)
        break;
      usleep(100);
    }
    make_ready();
  }
  pthread_join(t, NULL);
  printf("%d %d\n", na, nc);
  return 0;
}
