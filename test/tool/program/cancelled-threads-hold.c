// SPDX-License-Identifier: MIT
// A thread that is cancelled in a section that another thread runs for it goes on to the section's end.
// Where the program cancels threads, a section holds that may reach a point at which POSIX ends such a
// thread. No program can count on the points that POSIX only allows, as printf.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// CHECK:      delegate straight logged
// CHECK-NEXT: hold straight opened
// CHECK-NEXT: calls 'open', which is or reaches a cancellation point, and the program cancels threads [cancellation]
// CHECK-NEXT: hold straight closed
// CHECK-NEXT: calls 'finish', which is or reaches a cancellation point, {{.*}} [cancellation]
// CHECK-NEXT: delegate straight counted
// CHECK-NEXT: delegate straight allocated
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static volatile int cancelled;

static void logged(void) {
  pthread_mutex_lock(&lock);
  printf("%d\n", count);
  pthread_mutex_unlock(&lock);
}

static int opened(void) {
  pthread_mutex_lock(&lock);
  int file = open("/dev/null", O_RDONLY);
  pthread_mutex_unlock(&lock);
  return file;
}

static void finish(int file) { close(file); }

static void closed(int file) {
  pthread_mutex_lock(&lock);
  finish(file);
  count--;
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
  closed(opened());
  return unused;
}

int main(void) {
  pthread_t thread;
  logged();
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  cancelled = 1;
  void *result;
  pthread_join(thread, &result);
  printf("%d %d\n", result == PTHREAD_CANCELED, count);
  return 0;
}
