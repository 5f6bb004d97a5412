// SPDX-License-Identifier: MIT
// A timed wait in the condition of an if comes before it, in an else branch too.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      static int wait_section(
// CHECK:          if (section->forever)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &changed, 1);
// CHECK-NEXT:     else {
// CHECK-NEXT:       RELOCK_COND_TIMEDWAIT(&section->resume, &changed, section->until, 2);
// CHECK-NEXT:       if (section->resume.error == ETIMEDOUT) {
// CHECK-NEXT:         late++;
// CHECK-NEXT:         return 1;
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK:          RELOCK_COND_TIMEDWAIT(&section->resume, &changed, section->until, 1);
// CHECK-NEXT:     if (section->resume.error != 0)
// CHECK-NEXT:       late++;
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int late, ready;

static int wait(int forever, int ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += ms * 1000000;
  if (until.tv_nsec >= 1000000000)
    until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_mutex_lock(&lock);
  while (!ready) {
    if (forever)
      pthread_cond_wait(&changed, &lock);
    else if (pthread_cond_timedwait(&changed, &lock, &until) == ETIMEDOUT) {
      late++;
      pthread_mutex_unlock(&lock);
      return ETIMEDOUT;
    }
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

static void nap(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&lock);
  if (pthread_cond_timedwait(&changed, &lock, &until) != 0)
    late++;
  pthread_mutex_unlock(&lock);
}

static void *opener(void *unused) {
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  int first = wait(0, 5);
  nap();
  pthread_create(&thread, NULL, opener, NULL);
  int second = wait(1, 0), third = wait(0, 100);
  pthread_join(thread, NULL);
  printf("%d %d %d %d\n", first == ETIMEDOUT, second, third, late);
  return 0;
}
