// SPDX-License-Identifier: MIT
// What a lock wrapper does where the lock fails may be a block with a value, as a macro has that prints
// a message and ends the process: the wrapper's body stays where it is.
// RUN: %verdicts %s | FileCheck %s
// RUN: %check_rewrite %s --algorithms=posix,adaptive,ccsynch,rcl
// CHECK:      counter_lock ({{.*}}): convert
// CHECK-NEXT:   hold cross-function enter
// CHECK-NEXT:     is a lock wrapper; its sections are listed where it is called [cross-function]
// CHECK-NEXT:   delegate straight count
// CHECK-NEXT: returned_lock ({{.*}}): convert
// CHECK:        delegate straight returned
// CHECK:      4 lock sites: 2 delegate, 2 hold, 0 keep, 0 uncovered
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define log_exit(format, ...)                                                                  \
  ({                                                                                           \
    const char *where = __func__;                                                              \
    fprintf(stderr, "%s: %d: %s: " format, __FILE__, __LINE__, where, __VA_ARGS__);            \
    exit(EXIT_FAILURE);                                                                        \
  })

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t returned_lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, returns;

static void lock_mutex(pthread_mutex_t *m) {
  int error;

  error = pthread_mutex_lock(m);
  if (error)
    log_exit("%s\n", strerror(error));
}

static void unlock_mutex(pthread_mutex_t *m) {
  int error;

  error = pthread_mutex_unlock(m);
  if (error)
    log_exit("%s\n", strerror(error));
}

static void enter(void) { lock_mutex(&counter_lock); }
static void leave(void) { unlock_mutex(&counter_lock); }

static void *count(void *unused) {
  for (int i = 0; i < 1000; i++) {
    enter();
    counter++;
    leave();
  }
  return unused;
}

static void take_returned(void) {
  if (pthread_mutex_lock(&returned_lock) != 0)
    log_exit("%s\n", "cannot lock");
}

static void returned(void) {
  take_returned();
  returns++;
  pthread_mutex_unlock(&returned_lock);
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  returned();
  printf("%d %d\n", counter, returns);
  return 0;
}
