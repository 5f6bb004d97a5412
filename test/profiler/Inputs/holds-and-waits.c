/* SPDX-License-Identifier: MIT
 *
 * Holds and waits of known number and length. The program times each of them itself, just inside
 * the hold and just outside the wait, and prints a line for each: accuracy.py reads them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/arch.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 }; /* each with a lock of its own */

static pthread_mutex_t mutex_1us[ROUNDS], mutex_10us[ROUNDS], mutex_100us[ROUNDS];
static pthread_mutex_t mutex_1ms[ROUNDS], mutex_varied[ROUNDS];
static pthread_rwlock_t written_10us[ROUNDS], read_10us[ROUNDS];
static pthread_mutex_t wait_20us[ROUNDS], wait_200us[ROUNDS], wait_2ms[ROUNDS];

static int lock_mutex(void *lock) { return pthread_mutex_lock(lock); }
static int unlock_mutex(void *lock) { return pthread_mutex_unlock(lock); }
static int write_rwlock(void *lock) { return pthread_rwlock_wrlock(lock); }
static int read_rwlock(void *lock) { return pthread_rwlock_rdlock(lock); }
static int unlock_rwlock(void *lock) { return pthread_rwlock_unlock(lock); }

struct kind {
  const char *name;
  char *locks;
  size_t size;
  int times; /* a prime number */
  double us;
  int (*lock)(void *), (*unlock)(void *);
};

#define MUTEX(name, times, us)                                                                     \
  {#name, (char *)name, sizeof *name, times, us, lock_mutex, unlock_mutex}
#define RWLOCK(name, times, us, lock)                                                              \
  {#name, (char *)name, sizeof *name, times, us, lock, unlock_rwlock}

static const struct kind holds[] = {
    MUTEX(mutex_1us, 1009, 1),
    MUTEX(mutex_10us, 503, 10),
    MUTEX(mutex_100us, 101, 100),
    MUTEX(mutex_1ms, 11, 1000),
    MUTEX(mutex_varied, 997, 0), /* 1 to 40 us, for the percentiles */
    RWLOCK(written_10us, 499, 10, write_rwlock),
    RWLOCK(read_10us, 491, 10, read_rwlock),
};
static const struct kind waits[] = {
    MUTEX(wait_20us, 53, 20),
    MUTEX(wait_200us, 31, 200),
    MUTEX(wait_2ms, 7, 2000),
};

#ifdef OWN_CLOCK_IS_HERE
enum { READING = OWN_CLOCK_STEP, UNTIL_ASLEEP = true };
#else
enum { READING = 0, UNTIL_ASLEEP = false };
#endif
static double ticks_per_us;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void find_frequency(void) {
#ifdef OWN_CLOCK_IS_HERE
  ticks_per_us = OWN_CLOCK_PER_US;
#else
  uint64_t ns = now_ns(), ticks = relock_ticks();
  while (now_ns() - ns < 20 * 1000 * 1000)
    ;
  ticks_per_us = (double)(relock_ticks() - ticks) * 1000 / (double)(now_ns() - ns);
#endif
}

/* Returns how long it was, both readings included. */
static uint64_t stay(double us) {
  uint64_t start = relock_ticks(), now;
  while ((now = relock_ticks()) - start < (uint64_t)(us * ticks_per_us))
    ;
  return now - start + READING;
}

static void print(const struct kind *kind, const char *what, int round, uint64_t ticks) {
  printf("%s %s %d %" PRIu64 "\n", kind->name, what, round, ticks);
}

static void hold(const struct kind *kind) {
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < kind->times; i++) {
      void *lock = kind->locks + (size_t)round * kind->size;
      double us = kind->us > 0 ? kind->us : 1 + i * 389 % 997 / 25.6;
      uint64_t held;
      kind->lock(lock);
      held = stay(us);
      kind->unlock(lock);
      print(kind, "hold", round, held);
    }
}

/* The holder lets go so long after the waiter has said that it is about to wait; with a clock of
 * the program's own, after it sleeps. */
static sem_t held, done;
static atomic_bool wanted;
static pid_t waiter;

static bool sleeps(pid_t thread) {
  char path[64], state = 0;
  FILE *file;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  file = fopen(path, "r");
  if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
    abort();
  fclose(file);
  return state == 'S';
}

static void *hold_for_waiter(void *argument) {
  const struct kind *kind = argument;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < kind->times; i++) {
      void *lock = kind->locks + (size_t)round * kind->size;
      kind->lock(lock);
      sem_post(&held);
      while (!atomic_load(&wanted) || (UNTIL_ASLEEP && !sleeps(waiter)))
        sched_yield();
      stay(kind->us);
      kind->unlock(lock);
      sem_wait(&done);
    }
  return NULL;
}

static void wait_for_holder(const struct kind *kind) {
  pthread_t holder;
  waiter = gettid();
  pthread_create(&holder, NULL, hold_for_waiter, (void *)kind);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < kind->times; i++) {
      void *lock = kind->locks + (size_t)round * kind->size;
      uint64_t start, waited;
      sem_wait(&held);
      atomic_store(&wanted, true);
      start = relock_ticks();
      kind->lock(lock);
      waited = relock_ticks() - start;
      kind->unlock(lock);
      print(kind, "wait", round, waited);
      atomic_store(&wanted, false);
      sem_post(&done);
    }
  pthread_join(holder, NULL);
}

int main(void) {
  sem_init(&held, 0, 0);
  sem_init(&done, 0, 0);
  find_frequency();
  for (size_t i = 0; i < sizeof holds / sizeof *holds; i++)
    hold(&holds[i]);
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
    wait_for_holder(&waits[i]);
  return 0;
}
