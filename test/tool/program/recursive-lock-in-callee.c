// SPDX-License-Identifier: MIT
// A section whose callee takes a recursive lock that the caller holds runs with the caller's
// identity: the lock knows its owner.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        bump();
// CHECK:        relock_execute(&outer, work_once_section, NULL);
// CHECK:        relock_mutex_init(&outer, &attr, RELOCK_CLASS(outer));
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t outer;
static long n, m;
static void bump(void) {
  pthread_mutex_lock(&outer);
  n++;
  pthread_mutex_unlock(&outer);
}
static void work_once(void) {
  pthread_mutex_lock(&outer);
  m++;
  bump();
  pthread_mutex_unlock(&outer);
}
static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < 20000; i++)
    work_once();
  return NULL;
}
int main(void) {
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&outer, &attr);
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%ld %ld\n", n, m);
  return 0;
}
