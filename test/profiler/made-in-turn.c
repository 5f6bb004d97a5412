// SPDX-License-Identifier: MIT
// Mutexes that are made in turn by calls at the same depth of the stack, and by one call at several
// depths and from frames of several sizes, are told apart, though most stacks are known already.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'made("first") == [997]' \
// RUN:   'made("second") == [1, 498]' \
// RUN:   'made("deep") == [166, 166, 167]' \
// RUN:   'sum(made("sized")) == 997' \
// RUN:   'lock("mutex")["acquisitions"] == 2 * 997 + 2 * 499' \
// RUN:   'profile["overhead"]["processor_ns"] > 0' \
// RUN:   'profile["overhead"]["records_bytes"] > 4096' \
// RUN:   'profile["overhead"]["sampling_ns"] > 0 and not any(profile["dropped"].values())'
// RUN: %relock report %t.profile | tr -s '\n ' '  ' | FileCheck %s
// CHECK: % of the threads' time, {{[0-9.]+}}% of the processor time; its records took
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int make(void) {
  pthread_mutex_t *made = malloc(sizeof *made);
  int failed = pthread_mutex_init(made, NULL) | pthread_mutex_lock(made);
  failed |= pthread_mutex_unlock(made) | pthread_mutex_destroy(made);
  free(made);
  failed |= pthread_mutex_lock(&mutex);
  return failed | pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int first(void) { return make() + 1; }
static __attribute__((noinline)) int second(void) { return make() + 1; }

static __attribute__((noinline)) int deep(int depth) {
  return depth ? deep(depth - 1) + 1 : make() + 1;
}

static __attribute__((noinline)) int sized(size_t size) {
  volatile char *room = alloca(size);
  room[0] = 1;
  return make() + room[0];
}

int main(void) {
  for (int i = 0; i < 997; i++) {
    first();
    sized(16 + (size_t)(i % 7) * 48);
    if (i % 2) {
      second();
    } else {
      deep(i / 2 % 3);
    }
  }
  second();
  return 0;
}
