// SPDX-License-Identifier: MIT
// A loop whose head locks, runs its body once and unlocks, is a section: in a macro or written out, with a
// loop inside it that `break` leaves, or without.
// RUN: %check_rewrite %s --algorithms=adaptive,posix,ccsynch,rcl --stats | FileCheck %s --check-prefix=COUNTS
// RUN: %rewritten %s | FileCheck %s
// RUN: %verdicts %s | FileCheck %s --check-prefix=VERDICT
// CHECK:      static int put_section(void *context) {
// CHECK:        // Full: {{.*}}
// CHECK-NEXT:   if (item < 0)
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   for (int i = 0; i < 3; i++)
// CHECK-NEXT:     if (i == item)
// CHECK-NEXT:       break;
// CHECK-NEXT:   if (item % 5 == 0)
// CHECK-NEXT:     return 0;
// CHECK-NEXT:   total += item; // counted
// CHECK-NEXT:   return 0;
// CHECK:        relock_execute_any_thread(&s->lock, {{.*}}, &section);
// CHECK-NEXT:   return 1;
// CHECK:      static void written_out(
// CHECK-NEXT:   struct written_out_section section = {.n = n};
// CHECK-NEXT:   relock_execute_any_thread(&plain, written_out_section, &section);
// CHECK-NEXT: }
// CHECK:      static int in_branches_section(void *context) {
// CHECK-NEXT:   (void)context;
// CHECK-EMPTY:
// CHECK-NEXT:   total++;
// CHECK-NEXT:   return 0;
// CHECK:        if (n & 1)
// CHECK-NEXT:     relock_execute_any_thread(&store.lock, in_branches_section, NULL);
// CHECK-NEXT:   else
// CHECK-NEXT:     {
// CHECK-NEXT:       struct in_branches_section2 section2 = {.result = &result, .n = n};
// CHECK-NEXT:       relock_execute_any_thread(&store.lock, in_branches_section2, &section2);
// CHECK-NEXT:     }
// CHECK:        case 1:
// CHECK-NEXT:     {
// CHECK-NEXT:       struct in_branches_section3 section3 = {.result = &result, .n = n};
// VERDICT:      delegate straight written_out
// VERDICT:      delegate straight increments
// VERDICT:      delegate early-exit put
// VERDICT:      delegate straight in_branches
// VERDICT:      delegate straight in_branches
// VERDICT:      delegate straight in_branches
// VERDICT:      delegate early-exit in_a_loop
// VERDICT:      lock wrappers, whose sections are listed where they are called:
// VERDICT-NEXT: enter
// VERDICT-NEXT: 7 lock sites: 7 delegate, 0 hold, 0 keep, 0 uncovered, 1 in lock wrappers
// COUNTS-DAG:   stats: store.lock held=0
// COUNTS:       check-rewrite: ok
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static inline void enter(pthread_mutex_t *mutex) {
  int ret = pthread_mutex_lock(mutex);
  assert(ret == 0);
  (void)ret;
}
static inline void leave(pthread_mutex_t *mutex) {
  int ret = pthread_mutex_unlock(mutex);
  assert(ret == 0);
  (void)ret;
}
#define PASTE(a, b) a##b
#define WITH_LOCK(m, line)                                                                         \
  for (unsigned PASTE(i, line) = 0;                                                                \
       PASTE(i, line) ? (leave(&(m)), 0) : (enter(&(m)), 1); PASTE(i, line) = 1)                   \
    for (unsigned PASTE(j, line) = 0; !PASTE(j, line); PASTE(j, line) = 1)
#define with_lock(m) WITH_LOCK(m, __LINE__)

struct store {
  pthread_mutex_t lock;
};
static struct store store = {PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static int total, other; // each under its own lock

static int put(struct store *s, int item) {
  with_lock(s->lock) { // Full: nothing happens
    if (item < 0)
      break;
    for (int i = 0; i < 3; i++)
      if (i == item)
        break;
    if (item % 5 == 0)
      continue;
    total += item; // counted
  }
  return 1;
}

static void written_out(int n) {
  for (int once = (pthread_mutex_lock(&plain), 1); once;
       pthread_mutex_unlock(&plain), once = 0) {
    other += n;
  }
}

static int in_branches(int n) {
  int result = 0;
  if (n & 1)
    with_lock(store.lock)
      total++;
  else
    with_lock(store.lock) { result = total + n; }
  switch (n) {
  case 1:
    with_lock(store.lock) {
      result += n;
    }
    break;
  }
  return result;
}

static int in_a_loop(int n) {
  int rounds = 0;
  while (n-- > 0) {
    with_lock(store.lock) {
      switch (n % 3) {
      case 0:
        continue;
      case 1:
        break;
      default:
        total--;
      }
      if (n == 2)
        break;
      total += 2;
    }
    rounds++;
  }
  return rounds;
}

static void increments(int *n) {
  for (int i = 0; i == 0 ? pthread_mutex_lock(&plain) == 0 : pthread_mutex_unlock(&plain) != 0; ++i)
    ++*n;
}

static void *work(void *unused) {
  int calls = 0;
  for (int i = 0; i < 1000; i++) {
    calls += put(&store, i % 7 - 1);
    written_out(1);
  }
  printf("%d\n", calls);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  int n = 0;
  increments(&n);
  int rounds = in_a_loop(10), results = in_branches(0) + in_branches(1);
  printf("%d %d %d %d\n", n, rounds, results, total);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%d %d\n", total, other);
  return 0;
}
