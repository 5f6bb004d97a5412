// SPDX-License-Identifier: MIT
// A lock macro that does something before it locks and behind gets a macro for each: one stays where
// the macro is, and one goes into the section's function. So do unlock macros. The variable that the
// lock's result goes through is in neither.
// RUN: %check_rewrite %s --algorithms=adaptive,ccsynch,rcl
// RUN: %verdicts %s | FileCheck %s --check-prefix=SITES
// RUN: %rewritten %s | FileCheck %s
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int debug, total, logged;
int failures;
static void note(const char *what, int line) {
  if (line > 0 && what[0])
    logged++;
}
void fatal(const char *what, int error);
void fatal(const char *what, int error) {
  printf("%s: %s\n", what, strerror(error));
  exit(1);
}

#define NOTE(...) if (debug) { note(__VA_ARGS__, __LINE__); }
// CHECK:      #define my_lock_before(m, what) \
// CHECK-NEXT:   do { \
// CHECK-NEXT:     NOTE("begin " what); \
// CHECK-NEXT:   } while (0)
// CHECK-NEXT: #define my_lock_held(m, what) \
// CHECK-NEXT:   do { \
// CHECK-NEXT:     NOTE("done " what); \
// CHECK-NEXT:   } while (0)
#define my_lock(m, what)           \
  do {                             \
    int error;                     \
    NOTE("begin " what);           \
    error = pthread_mutex_lock(m); \
    if (error != 0) {              \
      fatal(what, error);          \
    }                              \
    NOTE("done " what);            \
  } while (0)
// CHECK:      #define my_unlock_after(m, what) \
// CHECK:          NOTE("released " what);
// CHECK:      #define my_unlock_held(m, what) \
// CHECK-NEXT:   do { \
// CHECK-NEXT:     NOTE("releases " what); \
// CHECK-NEXT:   } while (0)
#define my_unlock(m, what)               \
  do {                                   \
    NOTE("releases " what);              \
    int error = pthread_mutex_unlock(m); \
    if (error)                           \
      fatal(what, error);                \
    NOTE("released " what);              \
  } while (0)

// CHECK:      static int add_section(
// CHECK:        my_lock_held(&add_mutex, "add");
// CHECK-NEXT:   total += section->n;
// CHECK-NEXT:   my_unlock_held(&add_mutex, "add");
// CHECK-NEXT:   return 0;
// CHECK:      static void add(int n) {
// CHECK:        my_lock_before(&add_mutex, "add");
// CHECK-NEXT:   struct add_section section = {.n = n};
// CHECK-NEXT:   relock_execute_any_thread(&add_mutex, add_section, &section);
// CHECK-NEXT:   my_unlock_after(&add_mutex, "add");
static pthread_mutex_t add_mutex = PTHREAD_MUTEX_INITIALIZER;
static void add(int n) {
  my_lock(&add_mutex, "add");
  total += n;
  my_unlock(&add_mutex, "add");
}

// Through other macros, and with an early exit.
// CHECK:      #define TAKE_LOCK_BEFORE my_lock_before(&take_mutex, "take")
// CHECK-NEXT: #define TAKE_LOCK_HELD my_lock_held(&take_mutex, "take")
static pthread_mutex_t take_mutex = PTHREAD_MUTEX_INITIALIZER;
#define TAKE_LOCK my_lock(&take_mutex, "take")
#define TAKE_UNLOCK my_unlock(&take_mutex, "take")
// CHECK:      static int take_section(
// CHECK:        TAKE_LOCK_HELD;
// CHECK-NEXT:   if (total < n) {
// CHECK-NEXT:     TAKE_UNLOCK_HELD;
// CHECK-NEXT:     return 1;
// CHECK:        TAKE_UNLOCK_HELD;
// CHECK-NEXT:   return 0;
// CHECK:      static int take(int n) {
// CHECK-NEXT:   TAKE_LOCK_BEFORE;
// CHECK:        if (relock_execute_any_thread(&take_mutex, take_section, &section)) {
// CHECK-NEXT:     TAKE_UNLOCK_AFTER;
// CHECK-NEXT:     return -1;
// CHECK:        TAKE_UNLOCK_AFTER;
// CHECK-NEXT:   return 0;
static int take(int n) {
  TAKE_LOCK;
  if (total < n) {
    TAKE_UNLOCK;
    return -1;
  }
  total -= n;
  TAKE_UNLOCK;
  return 0;
}

// A gap does both around what it does.
// CHECK:      static void gap(void) {
// CHECK-NEXT:   my_lock_before(&gap_mutex, "gap");
// CHECK:          my_unlock_after(&gap_mutex, "gap");
// CHECK-NEXT:     free(malloc(8)); // without the lock
// CHECK-NEXT:     my_lock_before(&gap_mutex, "gap");
static pthread_mutex_t gap_mutex = PTHREAD_MUTEX_INITIALIZER;
static void gap(void) {
  my_lock(&gap_mutex, "gap");
  while (total > 3) {
    total--;
    my_unlock(&gap_mutex, "gap");
    free(malloc(8)); // without the lock
    my_lock(&gap_mutex, "gap");
  }
  my_unlock(&gap_mutex, "gap");
}

// A mutex that checks errors ends the process, too.
// CHECK:      CHECKED_BEFORE();
// CHECK:      relock_execute{{.*}}(&checked_mutex
static pthread_mutex_t checked_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
#define CHECKED(m)                       \
  do {                                   \
    NOTE("checked");                     \
    int error = pthread_mutex_lock(m);   \
    if (error) abort();                  \
    NOTE("is checked");                  \
  } while (0)
static void checked(void) {
  CHECKED(&checked_mutex);
  total++;
  if (pthread_mutex_unlock(&checked_mutex)) abort();
}

// What is done on one side cannot be told from the other: the time, which arm it was, the result.
static pthread_mutex_t timed_mutex = PTHREAD_MUTEX_INITIALIZER, arms_mutex = PTHREAD_MUTEX_INITIALIZER,
                       known_mutex = PTHREAD_MUTEX_INITIALIZER, failing_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
#define TIMED(m) do { int since = logged; pthread_mutex_lock(m); total += logged - since; } while (0)
#define ARMS(m) do { if (debug) { NOTE("arms"); pthread_mutex_lock(m); NOTE("locked"); } else pthread_mutex_lock(m); } while (0)
#define KNOWN(m) do { NOTE("known"); int error = pthread_mutex_lock(m); logged += error; } while (0)
#define FAILING(m) do { NOTE("failing"); int error = pthread_mutex_lock(m); if (error) failures++; NOTE("locked"); } while (0)
// CHECK:      static void timed(void) {
// CHECK-NEXT:   TIMED(&timed_mutex);
static void timed(void) {
  TIMED(&timed_mutex);
  total++;
  pthread_mutex_unlock(&timed_mutex);
}
// CHECK:      static void arms(void) {
// CHECK-NEXT:   ARMS(&arms_mutex);
static void arms(void) {
  ARMS(&arms_mutex);
  total++;
  pthread_mutex_unlock(&arms_mutex);
}
// CHECK:      static void known(void) {
// CHECK-NEXT:   KNOWN(&known_mutex);
static void known(void) {
  KNOWN(&known_mutex);
  total++;
  pthread_mutex_unlock(&known_mutex);
}
// CHECK:      static void failing(void) {
// CHECK-NEXT:   FAILING(&failing_mutex);
static void failing(void) {
  FAILING(&failing_mutex);
  total++;
  if (pthread_mutex_unlock(&failing_mutex)) abort();
}

// SITES: 9 lock sites: 5 delegate, 4 hold
int main(void) {
  for (debug = 0; debug < 2; debug++) {
    add(8);
    printf("%d %d\n", take(2), take(99));
    gap();
    checked();
    timed();
    arms();
    known();
    failing();
    printf("%d %d\n", total, logged);
  }
  return 0;
}
