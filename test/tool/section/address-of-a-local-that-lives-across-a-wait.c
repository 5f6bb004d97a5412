// SPDX-License-Identifier: MIT
// The address of a local of the section may be kept: the context, in which it lies, lives as long as
// the block of the section.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct wait_section {
// CHECK-NEXT:   int *rc;
// CHECK-NEXT:   struct timespec until;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:          soon(&section->until);
// CHECK-NEXT:     while (!ready && *section->rc == 0) {
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &changed, last, 1);
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static struct timespec *last;

static void soon(struct timespec *t) {
  clock_gettime(CLOCK_REALTIME, t);
  last = t;
}

static int wait(void) {
  int rc = 0;
  pthread_mutex_lock(&lock);
  struct timespec until;
  soon(&until);
  while (!ready && rc == 0)
    rc = pthread_cond_timedwait(&changed, &lock, last);
  pthread_mutex_unlock(&lock);
  return last->tv_sec > 1 ? rc : 0;
}

int main(void) {
  printf("%d\n", wait() == ETIMEDOUT);
  return 0;
}
