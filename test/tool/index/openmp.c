// SPDX-License-Identifier: MIT
// Locks in OpenMP's regions are sites like others. What stands under a condition for OpenMP is read, and
// so is gcc's header. A thread's own variable is its caller's in the section, too.
// RUN: %verdicts %s -fopenmp | FileCheck %s
// RUN: %rewritten %s -- -fopenmp | FileCheck %s --check-prefix=TEXT
// RUN: %verdicts %s | FileCheck %s --check-prefix=WITHOUT
// CHECK:      hold straight count
// CHECK-NEXT: a preprocessor directive stands between the function's begin and the section [preprocessor]
// CHECK-NEXT: calls 'omp_get_thread_num', which is not in the program [unknown-callee]
// CHECK-NEXT: hold straight region_within
// CHECK-NEXT: a preprocessor directive stands in the section [preprocessor]
// CHECK-NEXT: delegate straight own
// CHECK-NEXT: delegate straight own_of_a_callee
// CHECK-NEXT: delegate straight in_a_clause
// CHECK-NEXT: delegate straight only_there
// CHECK-NEXT: 6 lock sites: 4 delegate, 2 hold, 0 keep, 0 uncovered
// TEXT:       relock_execute(&lock, own_section, NULL);
// TEXT:       relock_execute(&lock, own_of_a_callee_section, NULL);
// TEXT:       void in_a_clause(int n) {
// TEXT-NEXT:    int threads;
// TEXT:       #pragma omp parallel num_threads(threads)
// TEXT:       relock_execute_any_thread(&lock, only_there_section, NULL);
// WITHOUT:    [uncovered]
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) { return 0; }
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static int mine, yours;
#pragma omp threadprivate(mine, \
                          yours)

void count(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    pthread_mutex_lock(&lock);
    total += omp_get_thread_num();
    pthread_mutex_unlock(&lock);
  }
}

void region_within(int n) {
  pthread_mutex_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    total++;
  pthread_mutex_unlock(&lock);
}

atomic_uint counted = UINT_MAX;

void own(void) {
  atomic_fetch_add(&counted, 1);
  pthread_mutex_lock(&lock);
  total += yours++;
  pthread_mutex_unlock(&lock);
}

static int next(void) {
  static int times;
#pragma omp threadprivate(times)
  return ++times;
}

void own_of_a_callee(void) {
  pthread_mutex_lock(&lock);
  total += next();
  pthread_mutex_unlock(&lock);
}

void in_a_clause(int n) {
  int threads;
  pthread_mutex_lock(&lock);
  threads = n + (int)total;
  pthread_mutex_unlock(&lock);
#pragma omp parallel num_threads(threads)
  n++;
}

#ifdef _OPENMP
void only_there(void) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
}
#endif
