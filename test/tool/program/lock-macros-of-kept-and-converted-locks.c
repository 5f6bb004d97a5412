// SPDX-License-Identifier: MIT
// A macro for the type, and lock macros that test the result, serve a lock that is kept, too: the
// others convert. Their declarations change, and what stays a lock operation uses a second macro, which
// stands behind the first one, in each configuration; not where only delegated sections would use it.
// Where all convert, the macros change.
// RUN: %check_rewrite %s --algorithms=ccsynch,rcl --flags=-DKEEP --accept-uncovered
// RUN: %check_rewrite %s --algorithms=ccsynch --accept-uncovered
// RUN: %rewritten %s --accept-uncovered --all -- -DKEEP | FileCheck %s --implicit-check-not=my_once_relock
// RUN: %rewritten %s --accept-uncovered --all | FileCheck %s --check-prefix=ALL --implicit-check-not='_relock('
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// CHECK: #define my_mutex pthread_mutex_t
// ALL: #define my_mutex relock_mutex_t
#define my_mutex pthread_mutex_t
#ifndef QUIET
// CHECK:      #define my_lock(m)                      \
// CHECK-NEXT:   do {                                  \
// CHECK-NEXT:     if (pthread_mutex_lock((m)) != 0)   \
// CHECK-NEXT:       abort();                          \
// CHECK-NEXT:   } while (0)
// CHECK-NEXT: #define my_lock_relock(m)               \
// CHECK-NEXT:   do {                                  \
// CHECK-NEXT:     if (relock_mutex_lock((m)) != 0)   \
// CHECK-NEXT:       abort();                          \
// CHECK-NEXT:   } while (0)
// ALL: if (relock_mutex_lock((m)) != 0)
#define my_lock(m)                      \
  do {                                  \
    if (pthread_mutex_lock((m)) != 0)   \
      abort();                          \
  } while (0)
#else
// CHECK: #define my_lock_relock(m) (void)relock_mutex_lock(m)
#define my_lock(m) (void)pthread_mutex_lock(m)
#endif
// CHECK:      #define MY_UNLOCK(m) do { if (pthread_mutex_unlock((m)) != 0) abort(); } while (0)
// CHECK-NEXT: #define MY_UNLOCK_RELOCK(m) do { if (relock_mutex_unlock((m)) != 0) abort(); } while (0)
#define MY_UNLOCK(m) do { if (pthread_mutex_unlock((m)) != 0) abort(); } while (0)

// CHECK: static relock_mutex_t a = RELOCK_MUTEX_INITIALIZER(a);
static my_mutex a = PTHREAD_MUTEX_INITIALIZER;
// CHECK:      struct s {
// CHECK-NEXT:   relock_mutex_t m;
struct s {
  my_mutex m;
  int n;
};
static int n;

// CHECK:      static void add(
// CHECK-NEXT:   relock_execute
// CHECK-NEXT:   relock_execute
static void add(struct s *s) {
  my_lock(&a);
  n++;
  MY_UNLOCK(&a);
  my_lock(&s->m);
  s->n++;
  MY_UNLOCK(&s->m);
}

// CHECK:      my_lock_relock((relock_mutex_t *)m);
// CHECK:      MY_UNLOCK_RELOCK((relock_mutex_t *)m);
// ALL:        my_lock((my_mutex *)m);
static void ask(void *m) {
  my_lock((my_mutex *)m);
  n += getchar() == 'x';
  MY_UNLOCK((my_mutex *)m);
}

// The function's name may stand in the argument of another macro.
// CHECK:      #define my_checked(m) CHECK(pthread_mutex_lock((m)) == 0)
// CHECK-NEXT: #define my_checked_relock(m) CHECK(relock_mutex_lock((m)) == 0)
// CHECK:      my_checked_relock(&a);
#define CHECK(e) do { if (!(e)) abort(); } while (0)
#define my_checked(m) CHECK(pthread_mutex_lock((m)) == 0)
static void checked(void) {
  my_checked(&a);
  n += getchar() == 'z';
  MY_UNLOCK(&a);
}

#define my_once(m) do { if (pthread_mutex_lock((m)) != 0) abort(); } while (0)
static void once(void) {
  my_once(&a);
  n += 1000;
  MY_UNLOCK(&a);
}

// A macro that is only the function's name, and a macro around the others.
#define my_try pthread_mutex_trylock
// CHECK:      #define ASK(m) do { my_lock_relock(m); n += getchar() == 'y'; MY_UNLOCK_RELOCK(m); } while (0)
#define ASK(m) do { my_lock(m); n += getchar() == 'y'; MY_UNLOCK(m); } while (0)

// CHECK: if (relock_mutex_trylock(&a) == 0)
// CHECK: ASK(&a);
// ALL: if (my_try(&a) == 0)
static void try(void) {
  if (my_try(&a) == 0)
    MY_UNLOCK(&a);
  ASK(&a);
}

#ifdef KEEP
// CHECK: static my_mutex shared;
// CHECK: my_lock(&shared);
// CHECK: MY_UNLOCK(&shared);
static my_mutex shared;
static void keep(void) {
  pthread_mutexattr_t attribute;
  pthread_mutexattr_init(&attribute);
  pthread_mutexattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared, &attribute);
  if (my_try(&shared) == 0)
    MY_UNLOCK(&shared);
  my_once(&shared);
  n += 100;
  MY_UNLOCK(&shared);
  my_checked(&shared);
  n += 100;
  MY_UNLOCK(&shared);
  my_lock(&shared);
  n += 100;
  MY_UNLOCK(&shared);
}
#endif

int main(void) {
  static struct s s = {.m = PTHREAD_MUTEX_INITIALIZER};
  add(&s);
  ask(&a);
  try();
  once();
  checked();
#ifdef KEEP
  keep();
#endif
  printf("%d %d\n", n, s.n);
  return 0;
}
