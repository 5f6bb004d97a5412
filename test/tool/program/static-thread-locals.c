// SPDX-License-Identifier: MIT
// Thread-local variables with function scope, outside and inside the section, are the caller's.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        relock_execute(&lock, work_section,
// CHECK:        relock_execute(&lock, work2_section,
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static int work(int n) {
  static _Thread_local int mine;
  pthread_mutex_lock(&lock);
  total += n;
  mine++;
  pthread_mutex_unlock(&lock);
  return mine;
}
static int work2(int n) {
  int r;
  pthread_mutex_lock(&lock);
  static __thread int mine;
  total += n;
  r = ++mine;
  pthread_mutex_unlock(&lock);
  return r;
}
static void *run(void *unused) {
  int last = 0;
  (void)unused;
  for (int i = 0; i < 5000; i++) {
    last = work(1);
    last += work2(1);
  }
  return (void *)(long)(last != 10000);
}
int main(void) {
  pthread_t t[4]; void *r; long bad = 0;
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); bad += (long)r; }
  printf("%ld %ld\n", total, bad);
  return 0;
}
