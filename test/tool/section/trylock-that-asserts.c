// SPDX-License-Identifier: MIT
// A trylock that ends the process where it takes the lock only asserts that somebody holds it: it
// is no section, and a callee that does so does nothing to the lock of a delegated section. The
// process may end behind an `if` that returns else, and in a function of the program. One that goes
// on with the lock, or whose end may run handlers, is a section.
// RUN: %check_rewrite %s
// RUN: %verdicts %s | FileCheck %s
// CHECK-NOT:  checked
// CHECK-NOT:  compared
// CHECK-NOT:  told
// CHECK-NOT:  chosen
// CHECK-NOT:  returned
// CHECK-DAG:  delegate straight add
// CHECK-DAG:  delegate straight set
// CHECK-DAG:  hold try takes
// CHECK-DAG:  hold try exits
// CHECK-DAG:  hold try goes_on
// CHECK-DAG:  hold try logs
// CHECK:      6 lock sites: 2 delegate, 4 hold, 0 keep, 0 uncovered
// CHECK:      trylocks that only assert that the lock is held: 6
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int total, last;

#define ASSERT_HELD(l) assert(pthread_mutex_trylock(&l))

static void checked(int n) {
  ASSERT_HELD(lock);
  assert(pthread_mutex_trylock(&lock) && "is held");
  total += n;
}

static void compared(int n) {
  if (__builtin_expect(pthread_mutex_trylock(&lock) != EBUSY, 0))
    abort();
  last = n;
}

static void told(void) {
  if (pthread_mutex_trylock(&lock) == 0) {
    fprintf(stderr, "not held\n");
    abort();
  }
}

static void chosen(void) { pthread_mutex_trylock(&lock) ? (void)0 : abort(); }

static void not_held(const char *where) {
  fprintf(stderr, "%s: not held\n", where);
  abort();
}

static void report(const char *where) { not_held(where); }

static void returned(void) {
  if (pthread_mutex_trylock(&lock) == EBUSY)
    return;
  report("returned");
}

static void goes_on(void) {
  if (pthread_mutex_trylock(&other) == EBUSY)
    return;
  total++;
  pthread_mutex_unlock(&other);
}

static void logs(void) {
  if (pthread_mutex_trylock(&other) == 0) {
    fprintf(stderr, "not held\n");
    pthread_mutex_unlock(&other);
  }
}

static void add(int n) {
  pthread_mutex_lock(&lock);
  checked(n);
  pthread_mutex_unlock(&lock);
}

static void set(int n) {
  pthread_mutex_lock(&lock);
  compared(n);
  told();
  chosen();
  returned();
  pthread_mutex_unlock(&lock);
}

static void takes(void) {
  if (pthread_mutex_trylock(&other) != 0)
    abort();
  total++;
  pthread_mutex_unlock(&other);
}

static void exits(void) {
  if (pthread_mutex_trylock(&other) == 0)
    exit(1);
}

static void *work(void *unused) {
  for (int i = 0; i < 2000; i++) {
    add(1);
    set(i);
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  takes();
  goes_on();
  logs();
  if (argc > 1)
    exits();
  printf("%d %d\n", total, last);
  return argv[argc] != NULL;
}
