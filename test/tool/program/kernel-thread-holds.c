// SPDX-License-Identifier: MIT
// What the kernel knows about a thread does not follow the caller: its id, its processor time.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (kernel-thread-holds.c:[[#]])
// CHECK-NEXT: calls 'gettid', which is about the thread that runs it [kernel-thread]
// CHECK:      hold straight work2
// CHECK-NEXT: clock_gettime', which is about the thread that runs it [kernel-thread]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wrong;
static void *work(void *unused) {
  int me = gettid();
  (void)unused;
  for (int i = 0; i < 20000; i++) {
    pthread_mutex_lock(&lock);
    wrong += gettid() != me;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void *work2(void *unused) {
  struct timespec t = {0, 0}, last = {0, 0};
  (void)unused;
  for (int i = 0; i < 20000; i++) {
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    if (t.tv_sec < last.tv_sec || (t.tv_sec == last.tv_sec && t.tv_nsec < last.tv_nsec))
      wrong++;
    last = t;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, i & 1 ? work : work2, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d\n", wrong);
  return 0;
}
