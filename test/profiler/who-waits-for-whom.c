// SPDX-License-Identifier: MIT
// Waits are counted by who held the lock when they began, and by lock; an rwlock's readers are
// nobody in particular.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'waited("waiter", "holder", "first") == (3, True)' \
// RUN:   'waited("waiter", "holder", "second") == (2, True)' \
// RUN:   'waited("holder", "waiter", "first") == (1, True)' \
// RUN:   'waited("waiter", "holder", "timed") == (1, True)' \
// RUN:   'waited("waiter", "holder", "spun") == (1, True)' \
// RUN:   'waited("waiter", "holder", "written") == (1, True)' \
// RUN:   'waited("waiter", None, "shared") == (1, True)' \
// RUN:   'len(profile["waited_for"]) == 7 and profile["waited_for_omitted"] == 0' \
// RUN:   'abs(sum(e["wait_ns"] for e in profile["waited_for"]) - \
// RUN:    sum(c["wait"]["total_ns"] + c.get("readers", c)["wait"]["total_ns"] * ("readers" in c) \
// RUN:        for c in profile["classes"])) < 20' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report --threads=9 %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// CHECK: {{^WAITER +HOLDER +LOCK CLASS +WAITS +WAIT +MEAN$}}
// CHECK: {{^waiter +holder +first +3 +[0-9.]+m?s +[0-9.]+m?s$}}
// RUN: %relock report --threads=2 %t.profile | FileCheck --check-prefix=LEFT %s
// LEFT: 5 more not shown.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { HELD_US = 20 * 1000 };

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;

static int lock_mutex(void *lock) { return pthread_mutex_lock(lock); }
static int unlock_mutex(void *lock) { return pthread_mutex_unlock(lock); }
static int read_rwlock(void *lock) { return pthread_rwlock_rdlock(lock); }
static int write_rwlock(void *lock) { return pthread_rwlock_wrlock(lock); }
static int unlock_rwlock(void *lock) { return pthread_rwlock_unlock(lock); }
static int lock_spinlock(void *lock) { return pthread_spin_lock(lock); }
static int unlock_spinlock(void *lock) { return pthread_spin_unlock(lock); }
static int lock_timed(void *lock) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += HELD_US * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_mutex_timedlock(lock, &until);
}

struct round {
  void *lock;
  int (*hold)(void *), (*wait)(void *), (*unlock)(void *);
  int holder;
};

static const struct round rounds[] = {
    {&first, lock_mutex, lock_mutex, unlock_mutex, 0},
    {&first, lock_mutex, lock_mutex, unlock_mutex, 0},
    {&first, lock_mutex, lock_mutex, unlock_mutex, 0},
    {&second, lock_mutex, lock_mutex, unlock_mutex, 0},
    {&second, lock_mutex, lock_mutex, unlock_mutex, 0},
    {&first, lock_mutex, lock_mutex, unlock_mutex, 1},
    {&timed, lock_mutex, lock_timed, unlock_mutex, 0},
    {(void *)&spun, lock_spinlock, lock_spinlock, unlock_spinlock, 0},
    {&written, write_rwlock, read_rwlock, unlock_rwlock, 0},
    {&shared, read_rwlock, write_rwlock, unlock_rwlock, 0},
};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

static pthread_barrier_t begin, held;
static pthread_t threads[2];
static pid_t ids[2];
static atomic_bool about_to_wait, gave_up;

static long ran_us(int who) {
  struct timespec time;
  clockid_t clock;
  pthread_getcpuclockid(threads[who], &clock);
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static bool sleeps(int who) {
  char path[64], state = 0;
  FILE *stat;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", ids[who]);
  stat = fopen(path, "r");
  if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1)
    state = 0;
  if (stat)
    fclose(stat);
  return state == 'S';
}

/* Once it has said that it is about to wait, the lock is all that it can sleep or spin for. */
static void until_it_has_waited(const struct round *round, int waiter) {
  long before;
  while (!atomic_load(&about_to_wait))
    usleep(1000);
  before = ran_us(waiter);
  if (round->wait == lock_timed)
    while (!atomic_load(&gave_up))
      usleep(1000);
  else if (round->wait == lock_spinlock)
    while (ran_us(waiter) < before + HELD_US)
      usleep(1000);
  else
    while (!sleeps(waiter))
      usleep(1000);
  usleep(HELD_US);
}

static void *play(void *argument) {
  int me = argument != NULL;
  ids[me] = gettid();
  pthread_setname_np(pthread_self(), me ? "waiter" : "holder");
  for (int i = 0; i < ROUNDS; i++) {
    const struct round *round = &rounds[i];
    int result = 0;
    pthread_barrier_wait(&begin);
    if (round->holder == me) {
      round->hold(round->lock);
      atomic_store(&about_to_wait, false);
      atomic_store(&gave_up, false);
    }
    pthread_barrier_wait(&held);
    if (round->holder == me) {
      until_it_has_waited(round, !me);
    } else {
      atomic_store(&about_to_wait, true);
      result = round->wait(round->lock);
      atomic_store(&gave_up, result == ETIMEDOUT);
    }
    if (result == 0)
      round->unlock(round->lock);
  }
  return NULL;
}

int main(void) {
  pthread_spin_init(&spun, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&begin, NULL, 2);
  pthread_barrier_init(&held, NULL, 2);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, play, i ? &threads : NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
