// SPDX-License-Identifier: MIT
// Who runs a function that ends the process matters to nobody. It does where that waits or can jump
// away before, or where handlers of exit() run.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch
// RUN: %verdicts %s | FileCheck %s
// CHECK:      delegate straight add
// CHECK:      hold straight leaves
// CHECK-NEXT: 'give_up' calls
// CHECK:      hold straight flushes
// CHECK-NEXT: 'flush_and_abort' calls 'usleep', which may block [may-block]
// CHECK:      hold straight exits
// CHECK-NEXT: 'quit' calls 'trace' calls 'backtrace', which is about the thread that runs it [kernel-thread]
// CHECK:      hold straight returns
// CHECK-NEXT: 'warn' calls 'trace' calls 'backtrace', which is about the thread that runs it [kernel-thread]
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static jmp_buf again;
static void *frames[8];

static void trace(void) { fprintf(stderr, "%d frames\n", backtrace(frames, 8)); }

static void dump_and_abort(void) {
  trace();
  abort();
}

static void panic(const char *text) {
  fputs(text, stderr);
  trace();
  dump_and_abort();
}

static void flush_and_abort(void) {
  usleep(1000); /* others write their messages */
  abort();
}

static void may_jump(int n) {
  if (n < 1000)
    longjmp(again, 1);
}

static void give_up(int n) {
  trace();
  may_jump(n);
  abort();
}

static void quit(void) {
  trace();
  exit(1);
}

static void warn(int n) {
  trace();
  if (n < 1000)
    return;
  abort();
}

static void add(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    panic("negative\n");
  total += n;
  pthread_mutex_unlock(&lock);
}

static void leaves(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    give_up(n);
  total += n;
  pthread_mutex_unlock(&lock);
}

static void flushes(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    flush_and_abort();
  total += n;
  pthread_mutex_unlock(&lock);
}

static void exits(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    quit();
  total += n;
  pthread_mutex_unlock(&lock);
}

static void returns(int n) {
  pthread_mutex_lock(&lock);
  if (n < 0)
    warn(n);
  total += n;
  pthread_mutex_unlock(&lock);
}

int main(void) {
  for (int i = 0; i < 5; i++) {
    add(i);
    leaves(i);
    flushes(i);
    exits(i);
    returns(i);
  }
  printf("%d\n", total);
  return 0;
}
