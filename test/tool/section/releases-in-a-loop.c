// SPDX-License-Identifier: MIT
// A section that releases its lock in a loop, works, and takes it again is one section, which
// returns for that work. Variables that the work reads or changes are the caller's.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// VERDICT:      delegate loop-carried worker (releases-in-a-loop.c:[[#]])
// VERDICT-NEXT: delegate loop-carried worker (releases-in-a-loop.c:[[#]])
// VERDICT:      3 lock sites: 3 delegate, 0 hold
// RUN: %rewritten %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs[64], put, taken, rounds, sum;

// CHECK:      struct worker_section {
// CHECK-NEXT:   int *job;
// CHECK-NEXT:   int *result;
// CHECK-NEXT:   int mine;
// CHECK-NEXT:   int resume;
// CHECK-NEXT: };
// CHECK:      switch (section->resume) {
// CHECK-NEXT: case 0:
// CHECK-NEXT:   rounds++;
// CHECK-NEXT:   while (taken < put) {
// CHECK-NEXT:     section->mine = rounds; /* lives across the work */
// CHECK-NEXT:     *section->job = jobs[taken++];
// CHECK-NEXT:     RELOCK_RETURN_TO(&section->resume, 1);
// CHECK-NEXT:     sum += *section->result + (section->mine - rounds);
// CHECK-NEXT:   }
// CHECK-NEXT:   put = 0;
// CHECK-NEXT: }
// CHECK-NEXT: return 0;
// CHECK:      struct worker_section section = {.job = &job, .result = &result, .resume = 0};
// CHECK-NEXT: while (relock_execute_any_thread(&lock, worker_section, &section)) {
// CHECK-NEXT:   /* without the lock */
// CHECK-NEXT:   result = job * 2;
// CHECK-NEXT: }
// CHECK-NEXT: printf("%d %d\n", job, result);
static void *worker(void *unused) {
  int job = 0, result = 0;
  (void)unused;
  pthread_mutex_lock(&lock);
  rounds++;
  while (taken < put) {
    int mine = rounds; /* lives across the work */
    job = jobs[taken++];
    pthread_mutex_unlock(&lock);
    /* without the lock */
    result = job * 2;
    pthread_mutex_lock(&lock);
    sum += result + (mine - rounds);
  }
  put = 0;
  pthread_mutex_unlock(&lock);
  printf("%d %d\n", job, result);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  for (put = 0; put < 64; put++)
    jobs[put] = put;
  pthread_mutex_unlock(&lock);
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
  printf("%d %d\n", sum, taken);
  return 0;
}
