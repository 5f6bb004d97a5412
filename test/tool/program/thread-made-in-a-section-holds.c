// SPDX-License-Identifier: MIT
// A new thread inherits the signal mask of whoever creates it: that must be the caller.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight grow (thread-made-in-a-section-holds.c:[[#]])
// CHECK-NEXT: calls 'pthread_create'
#include <pthread.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made, blocked;
static void *child(void *unused) {
  char line[200];
  FILE *status = fopen("/proc/thread-self/status", "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, "SigBlk:", 7) == 0 && strspn(line + 7, "\t0\n") != strlen(line + 7))
      __atomic_fetch_add(&blocked, 1, __ATOMIC_RELAXED);
  fclose(status);
  return unused;
}
static pthread_t grow(void) {
  pthread_t t;
  pthread_mutex_lock(&lock);
  made++;
  pthread_create(&t, NULL, child, NULL);
  pthread_mutex_unlock(&lock);
  return t;
}
static void *run(void *unused) {
  for (int i = 0; i < 50; i++)
    pthread_join(grow(), NULL);
  return unused;
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL);
  printf("%d %d\n", made, blocked);
  return 0;
}
