// SPDX-License-Identifier: MIT
// A switch over the result of a trylock says nothing of where the lock is held: it may be kept.
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  hold straight keeps_in_callee
// CHECK-DAG:  calls 'try_and_keep', which may return holding {{.*}} [kernel-thread]
// CHECK-DAG:  delegate straight releases_in_callee
#include <pthread.h>
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER, released = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t page, table;
static int total;

static void try_and_keep(void) {
  switch (pthread_spin_trylock(&page)) {
  case 0:
    total++;
  }
}

void keeps_in_callee(void) {
  pthread_mutex_lock(&kept);
  try_and_keep();
  pthread_mutex_unlock(&kept);
}

static void try_and_release(int often) {
  if (often && pthread_spin_trylock(&table) == 0) {
    total++;
    pthread_spin_unlock(&table);
  }
}

void releases_in_callee(void) {
  pthread_mutex_lock(&released);
  try_and_release(total);
  pthread_mutex_unlock(&released);
}
