// SPDX-License-Identifier: MIT
// A scalar of the section that is named only before a wait, but read through its address behind it,
// lives in the context as long as the pointer. One whose address is dead by then does not.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      struct wait_for_section {
// CHECK-NEXT:   int n;
// CHECK-NEXT:   int local;
// CHECK-NEXT:   int *at;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:          section->local = section->n;
// CHECK-NEXT:     section->at = &section->local;
// CHECK:          total += *section->at;
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, waiting, total;

static void wait_for(int n) {
  pthread_mutex_lock(&lock);
  int local = n;
  int *at = &local;
  waiting = 1;
  while (!ready)
    pthread_cond_wait(&changed, &lock);
  total += *at;
  pthread_mutex_unlock(&lock);
}

static void *make_ready(void *unused) {
  for (int seen = 0; !seen;) {
    pthread_mutex_lock(&lock);
    seen = ready = waiting;
    if (ready)
      pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, make_ready, NULL);
  wait_for(7);
  pthread_join(other, NULL);
  printf("%d\n", total);
  return 0;
}
