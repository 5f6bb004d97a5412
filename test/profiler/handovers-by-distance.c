// SPDX-License-Identifier: MIT
// Hand-overs are counted by the distance between the two processors, as the system describes it.
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
// RUN: %relock report %t.cache > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// RUN: %relock report %t.cache %t.cache | FileCheck --check-prefix=TWICE %s
// CHECK-DAG: from another thread 99.0%: 101 below the same cache
// CHECK-DAG: from another thread 99.0%: 97 on the same core
// TWICE-DAG: from another thread 99.0%: 202 below the same cache
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t near = PTHREAD_MUTEX_INITIALIZER, apart = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static int processors[2];
static sem_t turns[2];

static void run_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processors[processor], &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set))
    abort();
}

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

struct player {
  int first, processor, turns;
  void (*visit)(void *);
  void *lock;
};

static void *play(void *argument) {
  const struct player *player = argument;
  run_on(player->processor);
  for (int i = player->first; i < player->turns; i += 2) {
    sem_wait(&turns[player->first]);
    player->visit(player->lock);
    sem_post(&turns[!player->first]);
  }
  return NULL;
}

/* Two threads take turns, one holder more than there are to be hand-overs. */
static void pass_on(void (*visit)(void *), void *lock, int handovers, int other_processor) {
  struct player players[2] = {{0, 0, handovers + 1, visit, lock},
                              {1, other_processor, handovers + 1, visit, lock}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    sem_init(&turns[i], 0, i == 0);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, play, &players[i]);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
  cpu_set_t allowed;
  int found = 0;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
    if (CPU_ISSET(i, &allowed))
      processors[found++] = i;
  if (found < 2)
    return 1;
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  pass_on(lock_mutex, &near, 97, 0);
  pass_on(lock_mutex, &apart, 101, 1);
  pass_on(lock_rwlock, &written, 89, 1);
  pass_on(lock_spinlock, (void *)&spun, 83, 1);
  for (int i = 0; i < 103; i++)
    lock_mutex(&own);
  return 0;
}
