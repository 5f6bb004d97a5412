/* SPDX-License-Identifier: MIT
 *
 * Statistics per lock class, always on. Each thread counts in its own record, without atomic
 * read-modify-writes, in one cache line per class; readers add up. Times (times.h) are taken
 * only with RELOCK_STATS, since reading the clock costs as much as an uncontended lock.
 */
#ifndef RELOCK_BASE_COUNTERS_H
#define RELOCK_BASE_COUNTERS_H

#include "atomic.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether RELOCK_STATS asks for the times and for output at exit. */
extern uint32_t relock_stats_timed RELOCK_HIDDEN;

enum relock_counter {
  RELOCK_COUNT_HELD,      /* acquisitions by a holder */
  RELOCK_COUNT_EXECUTED,  /* relock_execute calls */
  RELOCK_COUNT_DELEGATED, /* those run by another thread; counted by that thread */
  RELOCK_COUNT_BATCHES,   /* times that a thread ran sections of others */
  RELOCK_COUNT_CONTENDED, /* operations that had to wait */
  RELOCK_COUNT_PARKED,    /* those that slept while waiting */
  RELOCK_COUNT_SWITCHES,  /* changes of what serves a mutex (adaptive) */
  RELOCK_COUNTERS
};

struct relock_counters {
  _Alignas(RELOCK_CACHE_LINE) uint64_t value[RELOCK_COUNTERS];
};
_Static_assert(sizeof(struct relock_counters) == RELOCK_CACHE_LINE, "one line per class");

/* Classes that are told apart; those beyond share the counters of the last. */
enum { RELOCK_MAX_CLASSES = 1024 };

struct relock_thread;

/* Adds to a counter of the class with that index, which any that has been resolved (class.h) has;
 * self may be null. */
void relock_stats_count(struct relock_thread *self, uint32_t index, enum relock_counter counter,
                        uint64_t amount);

/* What the thread that has this record has counted. */
uint64_t relock_stats_read(struct relock_thread *record, uint32_t index,
                           enum relock_counter counter);

/* What all threads have counted for the class with that index. */
void relock_stats_add_up(uint32_t index, uint64_t sum[RELOCK_COUNTERS]);

/* A forked child counts from zero. */
void relock_stats_after_fork(void);

#endif
