// SPDX-License-Identifier: MIT
// Whoever runs a section for a client sees the client's pending cancellation: where the program
// cancels threads, a section that may reach a cancellation point holds, and only that one. The
// allocator and errno are the thread's, but no cancellation points.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// CHECK:      hold straight logged (cancelled-threads-hold.c:[[#]])
// CHECK-NEXT: calls 'printf', which may be or reach a cancellation point, and the program cancels threads [cancellation]
// CHECK:      hold straight written (cancelled-threads-hold.c:[[#]])
// CHECK-NEXT: calls 'show', which may be or reach a cancellation point, {{.*}} [cancellation]
// CHECK:      delegate straight counted (cancelled-threads-hold.c:[[#]])
// CHECK:      delegate straight allocated (cancelled-threads-hold.c:[[#]])
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static volatile int cancelled;

static void logged(void) {
  pthread_mutex_lock(&lock);
  printf("%d\n", count);
  pthread_mutex_unlock(&lock);
}

static void show(void) { puts("shown"); }

static void written(void) {
  pthread_mutex_lock(&lock);
  show();
  pthread_mutex_unlock(&lock);
}

static void counted(void) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
}

static char *allocated(void) {
  pthread_mutex_lock(&lock);
  char *text = malloc(10);
  if (!text)
    errno = ENOMEM;
  pthread_mutex_unlock(&lock);
  return text;
}

// Cancelled before its sections: they run, it ends at the next cancellation point.
static void *work(void *unused) {
  counted();
  while (!cancelled)
    ;
  free(allocated());
  counted();
  pthread_testcancel();
  logged();
  written();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  cancelled = 1;
  void *result;
  pthread_join(thread, &result);
  printf("%d %d\n", result == PTHREAD_CANCELED, count);
  return 0;
}
