// SPDX-License-Identifier: MIT
// A section runs on the stack of another thread only where that is at least as large: one with a
// large frame delegates beside threads with small stacks, and does not overflow theirs.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      straight small (large-frames-need-large-stacks.c:[[#]])
// CHECK:      straight large (large-frames-need-large-stacks.c:[[#]])
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void small(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
static long __attribute__((noinline)) fill(void) {
  char big[512 * 1024];
  memset(big, 1, sizeof big);
  long n = 0;
  for (unsigned i = 0; i < sizeof big; i += 4096)
    n += big[i];
  return n;
}
static void large(void) {
  pthread_mutex_lock(&lock);
  total += fill();
  pthread_mutex_unlock(&lock);
}
static void *run(void *unused) {
  for (int i = 0; i < 2000; i++)
    small();
  return unused;
}
int main(void) {
  pthread_t t[4];
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 * 1024);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], &attr, run, NULL);
  for (int i = 0; i < 2000; i++)
    large();
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%ld\n", total);
  return 0;
}
