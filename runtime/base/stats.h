/* SPDX-License-Identifier: MIT
 *
 * Statistics per lock class, with RELOCK_STATS=1. Off, they cost one predicted branch on a word
 * that nobody writes.
 */
#ifndef RELOCK_BASE_STATS_H
#define RELOCK_BASE_STATS_H

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

extern uint32_t relock_stats_on;

enum relock_counter {
  RELOCK_COUNT_LOCKS,     /* mutexes initialised or, if never initialised by a call, used */
  RELOCK_COUNT_HELD,      /* acquisitions by a holder */
  RELOCK_COUNT_EXECUTED,  /* relock_execute calls */
  RELOCK_COUNT_DELEGATED, /* those run by another thread */
  RELOCK_COUNT_CONTENDED, /* operations that had to wait */
  RELOCK_COUNT_PARKED,    /* those that slept while waiting */
  RELOCK_COUNT_WAIT_NS,   /* time waited; a delegated section's own run counts as waiting */
  RELOCK_COUNTERS
};

/* Adds to a counter of the mutex's class, and counts the mutex when it is first seen. Only with
 * statistics on. */
void relock_stats_count(relock_mutex_t *mutex, enum relock_counter counter, uint64_t amount);

/* Counts one wait. Only with statistics on. */
void relock_stats_waited(relock_class_t *lock_class, uint64_t nanoseconds, bool parked);

/* A forked child counts from zero. */
/* Starts to count, and to print at exit. Called once, before any lock is used. */
void relock_stats_start(void);
void relock_stats_after_fork(void);

#endif
