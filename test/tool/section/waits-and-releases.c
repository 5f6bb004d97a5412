// SPDX-License-Identifier: MIT
// The threads of a pool wait for a job, take it, run it without the lock, and come back: one section,
// which waits, returns for the job, and ends where the pool does.
// RUN: %check_rewrite %s
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// VERDICT: 4 lock sites: 4 delegate, 0 hold
#include <pthread.h>
#include <stdio.h>

enum { JOBS = 100, THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int jobs[JOBS], put, taken, closed, sum;

// CHECK:      struct pool_section {
// CHECK-NEXT:   int *job;
// CHECK-NEXT:   int *result;
// CHECK-NEXT:   relock_resume_t resume;
// CHECK-NEXT: };
// CHECK:      switch (section->resume.at) {
// CHECK-NEXT: case 0:
// CHECK-NEXT:   for (;;) {
// CHECK-NEXT:     while (put == taken && !closed)
// CHECK-NEXT:       RELOCK_COND_WAIT(&section->resume, &changed, 2);
// CHECK-NEXT:     if (put == taken) {
// CHECK-NEXT:       return 0;
// CHECK-NEXT:     }
// CHECK-NEXT:     *section->job = jobs[taken++];
// CHECK-NEXT:     RELOCK_RETURN_TO(&section->resume.at, 1);
// CHECK-NEXT:     sum += *section->result;
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:      struct pool_section section = {.job = &job, .result = &result, .resume = {0}};
// CHECK-NEXT: while (relock_execute_resumable_from_any_thread(&lock, pool_section, &section,
// CHECK-NEXT:     &section.resume)) {
// CHECK-NEXT:   result = 3 * job;
// CHECK-NEXT: }
// CHECK-NEXT: printf("end\n");
// CHECK-NEXT: return NULL;
static void *pool(void *unused) {
  int job, result = 0;
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (put == taken && !closed)
      pthread_cond_wait(&changed, &lock);
    if (put == taken) {
      pthread_mutex_unlock(&lock);
      printf("end\n");
      return NULL;
    }
    job = jobs[taken++];
    pthread_mutex_unlock(&lock);
    result = 3 * job;
    pthread_mutex_lock(&lock);
    sum += result;
  }
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, pool, NULL);
  for (int i = 0; i < JOBS; i++) {
    pthread_mutex_lock(&lock);
    jobs[put++] = i;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  closed = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("%d\n", sum);
  return 0;
}
