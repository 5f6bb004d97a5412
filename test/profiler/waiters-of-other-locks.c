// SPDX-License-Identifier: MIT
// Who has to wait for an rwlock or a spinlock counts those that wait already, readers and writers
// alike; each wait is in the timeline.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("tree")["readers"]["contended"] == 3 and lock("tree")["contended"] == 2' \
// RUN:   'lock("tree")["readers"]["waiters"] == {"mean": 2, "max": 4}' \
// RUN:   'lock("tree")["waiters"] == {"mean": 2, "max": 3}' \
// RUN:   'lock("timed")["readers"]["waiters"] == {"mean": 0, "max": 0}' \
// RUN:   'lock("timed")["readers"]["timeouts"] == 7' \
// RUN:   'lock("spun")["waiters"] == {"mean": 0.5, "max": 1}' \
// RUN:   '[w["key"] for w in profile["timeline"]].count(lock("tree")["key"]) == 5' \
// RUN:   '[w["key"] for w in profile["timeline"]].count(lock("timed")["key"]) == 7' \
// RUN:   '[w["key"] for w in profile["timeline"]].count(lock("spun")["key"]) == 2' \
// RUN:   'profile["timeline_omitted"] == 0'
// RUN: %relock report --limit=0 %t.profile | FileCheck %s
// CHECK-DAG: rwlock, its writers first, {{.*}}waiters at most 4
// CHECK-DAG: spinlock, {{.*}}waiters at most 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_rwlock_t tree = PTHREAD_RWLOCK_INITIALIZER, timed = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static atomic_int about_to_wait;

static void *wait_to_read(void *argument) {
  atomic_store(&about_to_wait, gettid());
  pthread_rwlock_rdlock(&tree);
  pthread_rwlock_unlock(&tree);
  return argument;
}

static void *wait_to_write(void *argument) {
  atomic_store(&about_to_wait, gettid());
  pthread_rwlock_wrlock(&tree);
  pthread_rwlock_unlock(&tree);
  return argument;
}

static void *wait_spinning(void *argument) {
  atomic_store(&about_to_wait, gettid());
  pthread_spin_lock(&spun);
  pthread_spin_unlock(&spun);
  return argument;
}

static void *give_up(void *argument) {
  struct timespec past = {0, 0};
  for (int i = 0; i < 7; i++)
    pthread_rwlock_timedrdlock(&timed, &past);
  return argument;
}

/* The field of /proc/…/stat with the state, or the processor time in ticks. */
static int stat_of(int thread, int time) {
  char path[64], state = 0;
  long used = 0;
  FILE *stat;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  stat = fopen(path, "r");
  if (fscanf(stat, "%*d %*s %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld", &state, &used) != 2)
    state = 0;
  fclose(stat);
  return time ? (int)used : state;
}

/* Once it has said that it is about to lock, the lock is all that it can sleep on; one that spins
 * shows it by the time that it takes. */
static void until_it_waits(int spins) {
  int thread;
  while (!(thread = atomic_exchange(&about_to_wait, 0)))
    usleep(1000);
  while (spins ? stat_of(thread, 1) < 3 : stat_of(thread, 0) != 'S')
    usleep(1000);
}

int main(void) {
  void *(*const waiters[])(void *) = {wait_to_read, wait_to_write, wait_to_read, wait_to_write,
                                      wait_to_read};
  pthread_t threads[5];
  pthread_rwlock_wrlock(&tree);
  for (int i = 0; i < 5; i++) {
    pthread_create(&threads[i], NULL, waiters[i], NULL);
    until_it_waits(0);
  }
  pthread_rwlock_unlock(&tree);
  for (int i = 0; i < 5; i++)
    pthread_join(threads[i], NULL);
  pthread_rwlock_wrlock(&timed);
  pthread_create(&threads[0], NULL, give_up, NULL);
  pthread_join(threads[0], NULL);
  pthread_rwlock_unlock(&timed);
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  pthread_spin_lock(&spun);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, wait_spinning, NULL);
    until_it_waits(1);
  }
  pthread_spin_unlock(&spun);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
