/* SPDX-License-Identifier: MIT
 *
 * What the files of interposed functions share. State and mutexes are in preload.c.
 */
#ifndef RELOCK_PROFILER_PRELOAD_H
#define RELOCK_PROFILER_PRELOAD_H

#include "objects.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* How long a lock operation is willing to wait. */
enum how { PLAIN, TIMED, CLOCKED };

struct patience {
  enum how how;
  clockid_t clock;
  const struct timespec *until;
};

/* Others are refused, whether a lock is free or not. */
static inline bool is_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* Whether the real function may be tried first: those of rwlocks and semaphores look at the time
 * before they look at the lock. */
static inline bool is_valid(const struct patience *patience) {
  if (patience->how == PLAIN)
    return true;
  return patience->until->tv_nsec >= 0 && patience->until->tv_nsec < 1000000000 &&
         is_clock(patience->clock);
}

struct thread *recording_enter_first(void);

/* The calling thread's records, or null when this call is not to be recorded. What is entered is
 * left before the real function waits, and whenever it can be cancelled. */
static inline struct thread *recording_enter(void) {
  struct thread *thread = recording_ready;
  if (UNLIKELY(!thread))
    return recording_enter_first();
  recording_ready = NULL;
  return thread;
}

static inline void recording_leave(struct thread *thread) { recording_ready = thread; }

/* Nothing more is recorded of this thread, nor of new ones; said as a thread that is not. */
void recording_stop(void);

/* In a thread that has just been created. */
void recording_attach(struct thread *thread);

struct relock_object *primitive_object_first(enum relock_primitive primitive, const void *address);
/* The object at an address, made if this is its first use; null is counted as dropped. */
static inline struct relock_object *primitive_object(enum relock_primitive primitive,
                                                     const void *address) {
  struct relock_object *object = primitive_find(primitive, address);
  return LIKELY(object) ? object : primitive_object_first(primitive, address);
}
/* These two enter and leave by themselves. */
void primitive_initialised(enum relock_primitive primitive, const void *address);
void primitive_destroyed(enum relock_primitive primitive, const void *address);

/* An exclusive lock that is not a mutex; `wait` is what the program called. */
struct exclusive {
  enum relock_primitive primitive;
  int (*attempt)(void *lock);
  int (*wait)(void *lock, const struct patience *patience);
  int (*release)(void *lock);
};

int exclusive_lock(const struct exclusive *kind, void *lock, const struct patience *patience);
int exclusive_trylock(const struct exclusive *kind, void *lock);
/* `object` is held by somebody. */
int exclusive_unlock(const struct exclusive *kind, struct thread *thread,
                     struct relock_object *object, void *lock);

/* A wait that is no wait for a lock: for a condition, semaphore, barrier or futex. Between its
 * begin and its end nothing is entered, so a thread that is cancelled leaves nothing behind. */
struct waiting {
  struct relock_tally *tally; /* of the thread; null: not recorded */
  uint32_t group;
  uint64_t since;
  struct wait_sample sample;
};

struct waiting condition_wait_begins(const pthread_cond_t *condition);
void condition_wait_ends(const struct waiting *waiting, int result);
struct waiting barrier_wait_begins(const void *barrier);
void barrier_wait_ends(const struct waiting *waiting);

#endif
