// SPDX-License-Identifier: MIT
// What the kernel checks about the owner of a priority lock is the thread that runs the section:
// a callee that takes such a lock holds the section.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight work (priority-lock-in-callee-holds.c:[[#]])
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pi;
static int total, errors, inside;
static void bump(void) {
  int e = pthread_mutex_lock(&pi);
  for (volatile int i = 0; i < 3000; i++) ;
  inside++;
  e |= pthread_mutex_unlock(&pi);
  if (e)
    __atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED);
}
static void work(void) {
  pthread_mutex_lock(&lock);
  total++;
  bump();
  pthread_mutex_unlock(&lock);
}
static void *run(void *unused) {
  for (int i = 0; i < 3000; i++) {
    work();
    bump();
  }
  return unused;
}
int main(void) {
  pthread_t t[4];
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&pi, &attr);
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d %d %d\n", total, errors, inside);
  return 0;
}
