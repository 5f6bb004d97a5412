/* SPDX-License-Identifier: MIT
 *
 * What the profiler offers to librelock in the same process. librelock counts its locks itself, and
 * times those holds that timing.h tells; which of the program's threads waits or holds, inside
 * which other lock, and when, is recorded by the profiler, which knows that of all other locks.
 * Under `relock profile` only.
 *
 * All of it goes to the thread whose identity the caller has: in a section that another thread runs
 * for it, the client.
 */
#ifndef RELOCK_STATISTICS_RECORDER_H
#define RELOCK_STATISTICS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Exported by the profiler; found by name. */
#define RELOCK_RECORDER relock_profiler_recorder
#define RELOCK_RECORDER_VERSION 4u

/* When a hold began, or 0: it is not timed; and how many holds it stands for. */
struct relock_timed {
  uint64_t start;
  uint32_t weight;
};

/* A call that takes a lock and whose callers are known, and how many it stands for: of all calls,
 * and of those that wait. */
struct relock_traced {
  void *site; /* the recorder's; null: none */
  uint32_t weight, waits;
};

/* Where such a call is. */
struct relock_call_place {
  uintptr_t section, caller; /* as in struct relock_acquisition */
  bool whole;                /* false: of the callers beyond that the stack does not tell */
  bool waits;
};

enum {
  RELOCK_TAKE_TRIED = 1,  /* by a trylock */
  RELOCK_TAKE_WAITED = 2, /* since it was asked for; or it may have to */
};

struct relock_recorder {
  uint32_t version;
  /* The number of a lock class, by an address of the library's that stands for it. 0: not now;
   * UINT32_MAX: never. `hidden`: it is in no profile. */
  uint32_t (*lock_class)(const void *key, bool hidden);
  /* A lock of the class is taken, so timed or, if that was waited for, asked for since then. One
   * that is not timed is taken about `each` ticks after the one before. */
  void (*takes)(uint32_t lock_class, const void *lock, struct relock_timed timed, uint64_t each,
                int how);
  /* It is given back; now: 0 if the clock was not read. How the hold is timed: by itself alone if
   * its thread has waited in it for something, or lost its processor. */
  struct relock_timed (*gives)(const void *lock, uint64_t now);
  /* So many ticks; of a hold that stands for so many. */
  void (*waited)(uint32_t lock_class, uint64_t start, uint64_t ticks, uint32_t waiters);
  void (*held)(uint32_t lock_class, uint64_t ticks, uint32_t weight);
  /* Of every so many calls that take a lock of the class, and of those that wait for one: before
   * that. Returns how many calls on it is to be told again. */
  uint32_t (*trace)(uint32_t lock_class, const struct relock_call_place *place,
                    struct relock_traced *traced);
  /* It has the lock, for which it has waited so long, or not; and it has held it. */
  void (*traced_took)(const struct relock_traced *traced, bool waited, uint64_t ticks);
  void (*traced_held)(const struct relock_traced *traced, uint64_t ticks);
  /* Of the calling thread, in nanoseconds; 0: it may not be asked for. */
  uint64_t (*processor_time)(void);
  /* Of barriers: see struct relock_barrier_listener. */
  void (*barrier_initialised)(const void *barrier);
  void (*barrier_destroyed)(const void *barrier);
  int (*barrier_waits)(void *barrier, int (*wait)(void *barrier));
  /* Around a measurement of what all this costs, which counts as no section of the thread. */
  void (*measures)(bool begins);
};

/* Null: there is none. */
extern const struct relock_recorder *relock_recorder __attribute__((visibility("hidden")));

/* Looks for it; once, at the start. */
void relock_recorder_find(void);

#endif
