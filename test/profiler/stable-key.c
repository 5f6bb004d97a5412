// SPDX-License-Identifier: MIT
// A class has the same key in every run, wherever the loader puts the program.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.one -- %t
// RUN: %relock profile -o %t.two -- %t again
// RUN: for run in one two; do %python %S/Inputs/keys.py %t.$run > %t.$run.keys || exit 9; done
// RUN: grep -c '"key"' %t.one.keys | FileCheck %s
// RUN: FileCheck %s --check-prefix=NAMES < %t.one.keys
// RUN: cmp %t.one.keys %t.two.keys
// CHECK: 3
// NAMES: "name": "alone"
// NAMES: "name": "make (stable-key.c:[[LINE:[0-9]+]]) from main (stable-key.c:{{[0-9]+}})"
// NAMES: "name": "make (stable-key.c:[[LINE]]) from main (stable-key.c:{{[0-9]+}})"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) pthread_mutex_t *make(void) {
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  pthread_mutex_init(mutex, NULL);
  return mutex;
}

int main(void) {
  /* Two callers: two classes of the same function, told apart by the caller. */
  pthread_mutex_t *one = make();
  pthread_mutex_t *two = make();
  pthread_mutex_t *mutexes[] = {&alone, one, two};
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(mutexes[i]);
    pthread_mutex_unlock(mutexes[i]);
  }
  return 0;
}
