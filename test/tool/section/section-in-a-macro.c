// SPDX-License-Identifier: MIT
// A section in the body of a macro moves to before the macro's definition, once for all uses:
// values travel by value, what the section changes by address, and the jump stays in the macro.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags='-Wall -Wextra -Wshadow' --stats | FileCheck %s --check-prefix=STATS
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICTS
// CHECK:      struct add_section {
// CHECK-NEXT:   struct stats *s_value;
// CHECK-NEXT:   int n_value;
// CHECK-NEXT: };
// CHECK:      static int add_section(void *context) {
// CHECK-NEXT:   struct add_section *section = context;
// CHECK-EMPTY:
// CHECK-NEXT:   section->s_value->sum += section->n_value;
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK:      #define ADD(s, n)             \
// CHECK-NEXT:   do {                        \
// CHECK-NEXT:     struct add_section add = {.s_value = s, .n_value = n}; \
// CHECK-NEXT:     relock_execute_any_thread(&(s)->lock, add_section, &add); \
// CHECK-NEXT:   } while (0)
// CHECK:      static int count_section(void *context) {
// CHECK-NEXT:   int *counter = context;
// CHECK-EMPTY:
// CHECK-NEXT:   (*counter)++;
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK:      #define COUNT(counter) do { relock_execute_any_thread(&lock, count_section, &counter); } while (0)
// CHECK:      struct fail_section {
// CHECK-NEXT:   struct stats *stats;
// CHECK-NEXT:   int code_value;
// CHECK-NEXT: };
// CHECK:      static int fail_section(void *context) {
// CHECK:        section->stats->error = section->code_value;
// CHECK:      #define FAIL(code) {          \
// CHECK-NEXT:   struct fail_section fail = {.stats = stats, .code_value = code}; \
// CHECK-NEXT:   relock_execute_any_thread(&stats->lock, fail_section, &fail); \
// CHECK-NEXT:   goto out;                   \
// CHECK-NEXT: }
// CHECK:        ADD(stats, 1);
// VERDICTS: 7 lock sites: 7 delegate, 0 hold, 0 keep, 0 uncovered
// STATS:      stats: lock held=0 executed=7
// STATS-NEXT: stats: stats.lock held=0 executed=9
// STATS-NEXT: check-rewrite: ok
#include <pthread.h>
#include <stdio.h>

struct stats {
  pthread_mutex_t lock;
  int sum, error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses[2];

#define ADD(s, n)             \
  do {                        \
    pthread_mutex_lock(&(s)->lock); \
    (s)->sum += (n);          \
    pthread_mutex_unlock(&(s)->lock); \
  } while (0)

#define COUNT(counter) do { pthread_mutex_lock(&lock); (counter)++; pthread_mutex_unlock(&lock); } while (0)

#define LOCK(m) pthread_mutex_lock((m))
#define NEGATIVE(n) ((int)-(n))

// Leaves the function.
#define FAIL(code) {          \
  LOCK(&stats->lock);         \
  stats->error = code;        \
  pthread_mutex_unlock(&stats->lock); \
  goto out;                   \
}

static int work(struct stats *stats, int n) {
  int const error = n * 2;
  if (n > 2)
    FAIL(error);
  if (n < 0)
    FAIL(NEGATIVE(7));
  ADD(stats, 1);
  ADD(stats, n);
  COUNT(hits);
  return 0;
out:
  COUNT(misses[n > 2]);
  return -1;
}

int main(void) {
  struct stats stats = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
  for (int n = -1; n < 5; n++) {
    int result = work(&stats, n);
    printf("%d %d ", result, stats.error);
  }
  COUNT(hits);
  printf("%d %d %d %d\n", stats.sum, hits, misses[0], misses[1]);
  return 0;
}
