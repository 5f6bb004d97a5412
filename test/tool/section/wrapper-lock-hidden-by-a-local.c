// SPDX-License-Identifier: MIT
// A local variable has the name of the wrapper's lock: the section does not use it as the lock.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int work(long lock) {
// CHECK-NOT:  relock_execute{{.*}}&lock
// CHECK:      static void *run
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void enter(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
static int work(long lock) {
  enter();
  total += lock;
  leave();
  return lock;
}
static void *run(void *unused) {
  for (int i = 0; i < 20000; i++)
    work(1);
  return unused;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  enter();
  printf("%d\n", total);
  leave();
  return 0;
}
