/* SPDX-License-Identifier: MIT
 *
 * What stands in for the three seams when GenMC checks the runtime's sources; included before any
 * of them. atomic.h is the runtime's own but for two things. arch.h is replaced, by its guard. os.h
 * is a table, which this file fills in (the futex is modelled, the rest is hardly used).
 */
#ifndef RELOCK_GENMC_SEAMS_H
#define RELOCK_GENMC_SEAMS_H

/* GenMC's <pthread.h> has no condition variables, of which relock.h wants the size. */
#define PTHREAD_COND_SIZE 48
typedef struct {
  char size[PTHREAD_COND_SIZE];
} pthread_cond_t;
typedef long pthread_condattr_t;

#include <assert.h>
#include <errno.h>
#include <genmc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { THREADS_AT_MOST = 3 };

static __thread unsigned self_number;

/* GenMC has one errno for all. */
static __thread int own_errno;
#undef errno
#define errno own_errno

/* --- atomic.h -------------------------------------------------------------------------------- */

#include "base/atomic.h"

/* For compilers only; GenMC would take it for a fence that processors heed. */
#undef relock_keep_order
#define relock_keep_order() ((void)0)

/* GenMC ends with an error where it meets a prefetch. */
#define __builtin_prefetch(...) ((void)0)

/* The decrement is one instruction, and the barrier comes before it or after it in each thread: so
 * both are critical sections, each thread's under a lock of its own. That orders no more than the
 * kernel's barrier does: it comes to nothing but the decrement. */
static pthread_mutex_t instruction_of[THREADS_AT_MOST];

static uint32_t decrement_whole(uint32_t *word) {
  pthread_mutex_lock(&instruction_of[self_number]);
  const uint32_t value = (relock_owner_decrement)(word);
  pthread_mutex_unlock(&instruction_of[self_number]);
  return value;
}
#define relock_owner_decrement(word) decrement_whole(word)

static bool cas_whole(uint32_t *word, uint32_t expected, uint32_t value) {
  pthread_mutex_lock(&instruction_of[self_number]);
  const bool was = (relock_owner_cas)(word, expected, value);
  pthread_mutex_unlock(&instruction_of[self_number]);
  return was;
}
#define relock_owner_cas(word, expected, value) cas_whole(word, expected, value)

static void pass_barriers(void) {
  for (unsigned i = 0; i < THREADS_AT_MOST; i++)
    if (i != self_number) {
      pthread_mutex_lock(&instruction_of[i]);
      pthread_mutex_unlock(&instruction_of[i]);
    }
}

/* --- arch.h ---------------------------------------------------------------------------------- */

#define RELOCK_BASE_ARCH_H

static inline void relock_pause(void) {}
static inline void relock_wait_turns(uint32_t turns) { (void)turns; }
static inline uint64_t relock_ticks_early(void) { return 0; }
#define relock_frame() ((uintptr_t)0)

/* A number that GenMC finds the same in each execution. */
static inline uintptr_t relock_address(const void *object) {
  (void)object;
  return 0;
}

/* --- os.h ------------------------------------------------------------------------------------ */

#include "base/os.h"

/* A microsecond between two looks of a thread; GenMC wants the same in each execution. */
static uint64_t now_ns(void) {
  static __thread uint64_t now;
  return now += 1000;
}

/* The futex: what the kernel does under the lock of a bucket is done under one of these, so that a
 * comparison and falling asleep are one, and so is the choice of whom to wake. Nobody is woken for
 * no reason. A sleeper goes on when its own place is empty: GenMC knows it as the loop that it
 * stands for, and reports a thread that nobody is left to wake (--check-liveness). */
static pthread_mutex_t buckets[THREADS_AT_MOST + 1];
static const uint32_t *asleep_on[THREADS_AT_MOST];

/* See records.h: the half of a link is read as a whole; */
static uint32_t value_of(uint32_t *word);
static pthread_mutex_t *bucket_of(const uint32_t *word);

static int futex_wait(uint32_t *word, uint32_t expected, clockid_t clock,
                      const struct timespec *deadline) {
  (void)clock;
  assert(!deadline);
  const uint32_t **place = &asleep_on[self_number];
  pthread_mutex_t *bucket = bucket_of(word);
  pthread_mutex_lock(bucket);
  const bool sleeps = value_of(word) == expected;
  if (sleeps)
    relock_store_relaxed(place, word);
  pthread_mutex_unlock(bucket);
  if (sleeps) {
    __VERIFIER_loop_begin();
    __VERIFIER_spin_start();
    __VERIFIER_spin_end(!relock_load_relaxed(place)); /* to be woken orders nothing */
  }
  return 0;
}

static void futex_wake(const uint32_t *word, int count) {
  pthread_mutex_t *bucket = bucket_of(word);
  pthread_mutex_lock(bucket);
  for (unsigned i = 0; i < THREADS_AT_MOST; i++)
    if (count > 0 && relock_load_relaxed(&asleep_on[i]) == word) {
      relock_store_relaxed(&asleep_on[i], NULL);
      count--;
    }
  pthread_mutex_unlock(bucket);
}

static const struct relock_os system = {
    .futex_wait = futex_wait, .futex_wake = futex_wake, .barrier = pass_barriers, .now_ns = now_ns};
const struct relock_os *const relock_os = &system;

#endif
