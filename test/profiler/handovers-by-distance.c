// SPDX-License-Identifier: MIT
// Hand-overs are counted, and told apart by the distance between the two processors, as the system
// describes it: of threads that lock so often that not all holds are timed, by an estimate.
// REQUIRES: two-processors
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: rm -rf %t.sys; mkdir %t.sys
// RUN: for shared in core cache node nothing; do \
// RUN:   %python %S/Inputs/system-files.py %t.sys/$shared $shared && \
// RUN:   %relock profile --system-files=%t.sys/$shared -o %t.$shared -- %t || exit 1; done
// RUN: %relock profile --system-files=%t.sys/none -o %t.none -- %t
// RUN: %python %S/Inputs/expect.py %t.core 'lock("apart")["came_from"]["same_core"] == 101'
// RUN: %python %S/Inputs/expect.py %t.node 'lock("apart")["came_from"]["same_node"] == 101'
// RUN: %python %S/Inputs/expect.py %t.nothing 'lock("apart")["came_from"]["other_node"] == 101'
// RUN: %python %S/Inputs/expect.py %t.none 'lock("apart")["came_from"]["unknown"] == 101'
// RUN: %python %S/Inputs/expect.py %t.cache \
// RUN:   'lock("apart")["came_from"]["same_cache"] == 101 and lock("apart")["handovers"] == 101' \
// RUN:   'sum(lock("apart")["came_from"].values()) == lock("apart")["acquisitions"] == 102' \
// RUN:   'lock("near")["came_from"]["same_core"] == 97 and lock("near")["handovers"] == 97' \
// RUN:   'lock("near")["came_from"]["same_thread"] == 1' \
// RUN:   'lock("own")["came_from"]["same_thread"] == 103 and lock("own")["handovers"] == 0' \
// RUN:   'lock("written")["came_from"]["same_cache"] == 89' \
// RUN:   'lock("spun")["came_from"]["same_cache"] == 83'
// RUN: %relock profile --system-files=%t.sys/cache -o %t.often -- %t often
// RUN: %python %S/Inputs/expect.py %t.often \
// RUN:   'lock("often")["handovers"] == lock("often")["acquisitions"] - 512 == 89 * 512' \
// RUN:   'sum(lock("often")["came_from"].values()) == lock("often")["acquisitions"]' \
// RUN:   'lock("often")["came_from"]["same_thread"] == 512' \
// RUN:   '0.5 < lock("often")["came_from"]["same_core"] / (30 * 512) < 1.5' \
// RUN:   '0.75 < lock("often")["came_from"]["same_cache"] / (2 * 30 * 512) < 1.25'
// RUN: %relock report %t.cache > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// RUN: %relock report %t.cache %t.cache | FileCheck --check-prefix=TWICE %s
// CHECK-DAG: from another thread 99.0%: 101 below the same cache
// CHECK-DAG: from another thread 99.0%: 97 on the same core
// TWICE-DAG: from another thread 99.0%: 202 below the same cache
#include "Inputs/take-turns.h"

#include <stdint.h>

static pthread_mutex_t near = PTHREAD_MUTEX_INITIALIZER, apart = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static void lock_mutex(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
}
static void lock_rwlock(void *lock) {
  pthread_rwlock_wrlock(lock);
  pthread_rwlock_unlock(lock);
}
static void lock_spinlock(void *lock) {
  pthread_spin_lock(lock);
  pthread_spin_unlock(lock);
}

/* Three threads have all locks in turns, the third one on another processor. */
static pthread_mutex_t often[512];
static sem_t turn_of[3];
static void *lock_often(void *argument) {
  const int self = (int)(intptr_t)argument;
  run_on(self == 2);
  for (int turn = 0; turn < 30; turn++) {
    sem_wait(&turn_of[self]);
    for (int i = 0; i < 512; i++)
      lock_mutex(&often[i]);
    sem_post(&turn_of[(self + 1) % 3]);
  }
  return NULL;
}

static void pass_on_often(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    sem_init(&turn_of[i], 0, i == 0);
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, lock_often, (void *)(intptr_t)i);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
}

int main(int count, char **arguments) {
  (void)arguments;
  if (!find_processors())
    return 1;
  if (count > 1) {
    pass_on_often();
    return 0;
  }
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  pass_on(lock_mutex, &near, 97, 0);
  pass_on(lock_mutex, &apart, 101, 1);
  pass_on(lock_rwlock, &written, 89, 1);
  pass_on(lock_spinlock, (void *)&spun, 83, 1);
  for (int i = 0; i < 103; i++)
    lock_mutex(&own);
  return 0;
}
