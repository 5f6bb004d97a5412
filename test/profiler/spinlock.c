// SPDX-License-Identifier: MIT
// A thread that spins waits; what it holds is a hold like a mutex's, and time in sections.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("counted")["primitive"] == "spinlock"' \
// RUN:   'lock("counted")["acquisitions"] == 3 * 997' \
// RUN:   'lock("counted")["hold"]["count"] == 3 * 997' \
// RUN:   'lock("pool.spin")["acquisitions"] == 7 and lock("pool.spin")["objects"] == 2' \
// RUN:   'lock("pool.spin")["locks"] == []' \
// RUN:   'lock("spun")["acquisitions"] == 2 and lock("spun")["contended"] == 1' \
// RUN:   'lock("spun")["wait"]["max_ns"] >= 40 * MS and lock("spun")["trylock_failures"] == 11' \
// RUN:   'lock("spun")["hold"]["max_ns"] >= 50 * MS and lock("spun")["handovers"] == 1' \
// RUN:   'profile["section_ns"] >= 100 * MS' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: {{^spun +2 +50\.0% wait}}
// CHECK-NEXT: {{^ +hold}}
// CHECK-NEXT: {{^  spinlock, held [0-9.]+% of the run, trylocks failed 11$}}
#include "Inputs/until-it-waits.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_spinlock_t counted, spun;
struct pool {
  int size;
  pthread_spinlock_t spin;
} *pools[2];

static void *count(void *argument) {
  for (int i = 0; i < 997; i++) {
    pthread_spin_lock(&counted);
    pthread_spin_unlock(&counted);
  }
  return argument;
}

static void *spin(void *argument) {
  for (int i = 0; i < 11; i++)
    if (pthread_spin_trylock(&spun) != EBUSY)
      abort();
  about_to_wait();
  pthread_spin_lock(&spun);
  pthread_spin_unlock(&spun);
  return argument;
}

static void make(int i) {
  pools[i] = calloc(1, sizeof *pools[i]);
  pthread_spin_init(&pools[i]->spin, PTHREAD_PROCESS_PRIVATE);
}

int main(void) {
  pthread_t threads[3], spinner;
  pthread_spin_init(&counted, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 2; i++)
    make(i);
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 7; i++) {
    pthread_spin_lock(&pools[i % 2]->spin);
    pthread_spin_unlock(&pools[i % 2]->spin);
  }
  for (int i = 0; i < 2; i++)
    pthread_spin_destroy(&pools[i]->spin);
  pthread_spin_lock(&spun);
  pthread_create(&spinner, NULL, spin, NULL);
  until_it_waits(spinner);
  pthread_spin_unlock(&spun);
  return pthread_join(spinner, NULL);
}
