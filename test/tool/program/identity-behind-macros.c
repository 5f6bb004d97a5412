// SPDX-License-Identifier: MIT
// errno and a thread-local variable behind macros and inline functions are the caller's, too.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// CHECK:        relock_execute(&lock, work_section, &section);
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static __thread int depth;
#define ENTER() (depth++)
#define err errno
struct ops { int (*f)(void); };
static int uses_errno(void) { err = 5; return 1; }
static inline int *slot(void) { return &depth; }
static int mine(void) { return *slot(); }
static void work(int expect) {
  pthread_mutex_lock(&lock);
  ENTER();
  total += uses_errno() + mine() - expect;
  pthread_mutex_unlock(&lock);
}
static void *run(void *unused) {
  int bad = 0;
  for (int i = 0; i < 5000; i++) {
    errno = 0;
    work(i + 1);
    bad += errno != 5 || depth != i + 1;
  }
  (void)unused;
  return (void *)(long)bad;
}
int main(void) {
  pthread_t t[4]; void *r; long bad = 0;
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); bad += (long)r; }
  printf("%ld %ld\n", total, bad);
  return 0;
}
