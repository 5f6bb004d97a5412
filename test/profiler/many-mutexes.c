// SPDX-License-Identifier: MIT
// Mutexes that come and go, with and without being destroyed, keep their counts in their class.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("make (many-mutexes.c:21)")["objects"] == 20011' \
// RUN:   'lock("make (many-mutexes.c:21)")["acquisitions"] == 20011' \
// RUN:   'len(lock("make (many-mutexes.c:21)")["locks"]) <= 11' \
// RUN:   'not any(profile["dropped"].values())'
//
// With too little memory the loss is counted and said.
// RUN: %cc -g -O1 -DKEEP %s -o %t -pthread
// RUN: %relock profile --memory-limit=1 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile 'profile["dropped"]["mutex_operations"] > 0' \
// RUN:   'lock("make (many-mutexes.c:21)")["acquisitions"] > 1000'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: not recorded: lock operations {{[0-9]+}}
#include <pthread.h>
#include <stdlib.h>
static __attribute__((noinline)) void make(pthread_mutex_t *mutex) {
  pthread_mutex_init(mutex, NULL);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
}

int main(void) {
  pthread_mutex_t *mutexes = calloc(20011, sizeof *mutexes);
  for (int i = 0; i < 20011; i++) {
#ifdef KEEP
    make(&mutexes[i]);
#else
    make(&mutexes[i % 11]);
    if (i % 3)
      pthread_mutex_destroy(&mutexes[i % 11]);
#endif
  }
  return 0;
}
