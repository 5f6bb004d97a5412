// SPDX-License-Identifier: MIT
// Whoever runs a section for a client sees the client's pending cancellation: where the program
// cancels threads, a section that may reach a cancellation point holds, and only that one.
// RUN: %verdicts %s | FileCheck %s
// CHECK:      hold straight logged (cancelled-threads-hold.c:[[#]])
// CHECK-NEXT: may reach a cancellation point, and the program cancels threads [cancellation]
// CHECK:      delegate straight counted (cancelled-threads-hold.c:[[#]])
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void logged(void) {
  pthread_mutex_lock(&lock);
  printf("%d\n", count);
  pthread_mutex_unlock(&lock);
}

static void counted(void) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
  counted();
  logged();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  return 0;
}
