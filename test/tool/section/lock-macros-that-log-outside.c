// SPDX-License-Identifier: MIT
// What a macro does before it takes a lock, or behind the release, stays where the macro is, by a second
// one. So do the arms of an `if` that lock each, also by macros of their own, which get second ones too.
// Arms that only lock leave nothing.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=SITES
// RUN: %rewritten %s | FileCheck %s
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int debug = 1, logged, total, refs;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER, jobs_mutex = PTHREAD_MUTEX_INITIALIZER,
                       arms_lock = PTHREAD_MUTEX_INITIALIZER, bare_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *what, int line) {
  if (line > 0 && what[0])
    logged++;
}

// CHECK:      #define LOG_LOCK(m) do { note("lock", __LINE__); relock_mutex_lock(m); } while (0)
// CHECK-NEXT: #define LOG_LOCK_BEFORE() do { note("lock", __LINE__); } while (0)
// CHECK:      #define LOG_UNLOCK(m, what)
// CHECK:      #define LOG_UNLOCK_AFTER(m, what){{ +}}\
// CHECK-NEXT:   do {{{ +}}\
// CHECK-NEXT:     note(what, __LINE__);{{ +}}\
// CHECK-NEXT:   } while (0)
#define LOG_LOCK(m) do { note("lock", __LINE__); pthread_mutex_lock(m); } while (0)
#define LOG_UNLOCK(m, what)   \
  do {                        \
    pthread_mutex_unlock(m);  \
    note(what, __LINE__);     \
  } while (0)

// CHECK:      static int add_section(
// CHECK-NOT:  LOG
// CHECK:        total += section->n;
// CHECK-NEXT:   return 0;
// CHECK:      static void add(int n) {
// CHECK:        LOG_LOCK_BEFORE();
// CHECK-NEXT:   struct add_section section = {.n = n};
// CHECK-NEXT:   relock_execute_any_thread(&log_lock, add_section, &section);
// CHECK-NEXT:   LOG_UNLOCK_AFTER(&log_lock, "unlock");
static void add(int n) {
  LOG_LOCK(&log_lock);
  total += n;
  LOG_UNLOCK(&log_lock, "unlock");
}

// An early way out logs another word, and a gap logs both.
// CHECK:      static int take(int n) {
// CHECK:        LOG_LOCK_BEFORE();
// CHECK:        relock_execute
// CHECK:          LOG_UNLOCK_AFTER(&log_lock, "none");
// CHECK-NEXT:     return -1;
// CHECK:          LOG_UNLOCK_AFTER(&log_lock, "taken");
static int take(int n) {
  LOG_LOCK(&log_lock);
  if (refs < n) {
    LOG_UNLOCK(&log_lock, "none");
    return -1;
  }
  refs -= n;
  LOG_UNLOCK(&log_lock, "taken");
  return refs >= 0;
}
// CHECK:      static void gap(void) {
// CHECK:        LOG_LOCK_BEFORE();
// CHECK:          LOG_UNLOCK_AFTER(&log_lock, "gap");
// CHECK-NEXT:     free(malloc(8)); // without the lock
// CHECK-NEXT:     LOG_LOCK_BEFORE();
// CHECK:        LOG_UNLOCK_AFTER(&log_lock, "end");
static void gap(void) {
  LOG_LOCK(&log_lock);
  while (refs > 3) {
    refs--;
    LOG_UNLOCK(&log_lock, "gap");
    free(malloc(8)); // without the lock
    LOG_LOCK(&log_lock);
  }
  LOG_UNLOCK(&log_lock, "end");
}

// CHECK:      #define jobs_lock_debug(m) { note("lock", __LINE__); relock_mutex_lock(m); }
// CHECK-NEXT: #define jobs_lock_debug_before() { note("lock", __LINE__); }
// CHECK:      #define jobs_lock_before() { if (!debug) { } else { jobs_lock_debug_before(); } }
// CHECK:      #define jobs_unlock_debug_held() { note("unlock", __LINE__); }
// CHECK:      #define jobs_unlock_held() { if (!debug) { } else { jobs_unlock_debug_held(); } }
#define jobs_lock_quiet(m) pthread_mutex_lock(m)
#define jobs_lock_debug(m) { note("lock", __LINE__); pthread_mutex_lock(m); }
#define jobs_lock(m) { if (!debug) { jobs_lock_quiet(m); } else { jobs_lock_debug(m); } }
#define jobs_unlock_quiet(m) pthread_mutex_unlock(m)
#define jobs_unlock_debug(m) { note("unlock", __LINE__); pthread_mutex_unlock(m); }
#define jobs_unlock(m) { if (!debug) { jobs_unlock_quiet(m); } else { jobs_unlock_debug(m); } }

// CHECK:      static int job_section(
// CHECK:        total += section->n;
// CHECK-NEXT:   jobs_unlock_held();
// CHECK:      static void job(int n) {
// CHECK:        jobs_lock_before();
// CHECK:        relock_execute
static void job(int n) {
  jobs_lock(&jobs_mutex);
  total += n;
  jobs_unlock(&jobs_mutex);
}

// The arms have no braces.
// CHECK:      #define ARMS_LOCK_BEFORE() \
// CHECK-NEXT:   do { if (debug) { note("arms", __LINE__); } else { } } while (0)
// CHECK:      #define ARMS_UNLOCK_AFTER() \
// CHECK-NEXT:   do { if (!debug) { } else { note("arms", __LINE__); } } while (0)
#define ARMS_LOCK(m) \
  do { if (debug) { note("arms", __LINE__); pthread_mutex_lock(m); } else pthread_mutex_lock(m); } while (0)
#define ARMS_UNLOCK(m) \
  do { if (!debug) pthread_mutex_unlock(m); else { pthread_mutex_unlock(m); note("arms", __LINE__); } } while (0)
static void arms(int n) {
  ARMS_LOCK(&arms_lock);
  total += n;
  ARMS_UNLOCK(&arms_lock);
}

// CHECK:      static void bare(int n) {
// CHECK-NOT:  BARE
// CHECK:        relock_execute_any_thread(&bare_lock
// CHECK-NOT:  BARE
// CHECK:      }
#define BARE_LOCK(m) do { if (debug) { pthread_mutex_lock(m); } else { pthread_mutex_lock(m); } } while (0)
static void bare(int n) {
  BARE_LOCK(&bare_lock);
  total += n;
  pthread_mutex_unlock(&bare_lock);
}

// What one arm reads behind the unlock, or the section's beginning does, has the value of then.
#define SHOW_LOCK(m, n) do { if (!debug) { pthread_mutex_lock(m); } else { pthread_mutex_lock(m); total += (n); } } while (0)
#define SHOW_UNLOCK(m, n) do { if (!debug) { pthread_mutex_unlock(m); } else { pthread_mutex_unlock(m); note("n", n); } } while (0)
// CHECK:      static int shown_section(
// CHECK:        *n += total;
// CHECK:      static int shown(int n) {
// CHECK-NEXT:   relock_execute_any_thread(&bare_lock, shown_section, &n);
// CHECK-NEXT:   SHOW_UNLOCK_AFTER(&bare_lock, n);
static int shown(int n) {
  pthread_mutex_lock(&bare_lock);
  n += total;
  total += n;
  SHOW_UNLOCK(&bare_lock, n);
  return 0;
}
// CHECK:      static int begun_section(
// CHECK:        int k = section->k;
// CHECK:        SHOW_LOCK_HELD(&bare_lock, k);
// CHECK:      static void begun(
// CHECK:        int k = n;
// CHECK:        relock_execute
static void begun(int n) {
  int k = n;
  SHOW_LOCK(&bare_lock, k);
  k = total;
  total += k;
  pthread_mutex_unlock(&bare_lock);
}

// SITES: 9 lock sites: 9 delegate, 0 hold
int main(void) {
  add(1);
  refs = 5;
  take(1);
  printf("%d\n", take(9));
  gap();
  job(2);
  arms(3);
  shown(-5);
  begun(1000);
  debug = 0;
  job(4);
  arms(5);
  bare(6);
  printf("%d %d %d\n", logged, total, refs);
  return 0;
}
