/* SPDX-License-Identifier: MIT
 *
 * How long locks are waited for and held: with RELOCK_STATS and under `relock profile`, of mutexes
 * whose `kind` says TIMED, which they get at their first use. So the way of a mutex that is not
 * timed has nothing more to look at.
 *
 * Every wait is timed, and every operation counted. Reading the clock costs more than all the rest,
 * so of the holds that nobody was in the way of only those are timed that timing.h tells: each
 * class has for each thread its first ones and those after a long one, and its thread chooses among
 * all others. A chosen hold stands for several, and so does its section if it is the outermost one.
 * What its thread waits in, and sections that were passed on, are timed for themselves alone.
 *
 * As with the counters, each thread writes its own, without atomic read-modify-writes, and readers
 * add up. A section that runs elsewhere with its client's identity writes the client's, which only
 * waits. Times are ticks of the cycle counter, in the profiler's buckets.
 *
 * All memory comes from one range that is reserved at the start: a program that has forbidden
 * itself system calls since is not killed for it.
 */
#ifndef RELOCK_STATISTICS_TIMES_H
#define RELOCK_STATISTICS_TIMES_H

#include "../base/atomic.h"
#include "buckets.h"
#include "chance.h"
#include "processor.h"
#include "recorder.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

struct relock_thread;

/* A value counts as often as those that it stands for. */
struct relock_distribution {
  uint64_t count, total, max;
  uint64_t values; /* measured */
  struct relock_chance chance;
  uint64_t buckets[RELOCK_BUCKETS];
};

/* A call that takes mutexes of a class, and the section that it runs under them, or 0. `hold` is of
 * its timed holds, each as often as those that it stands for. */
struct relock_site {
  uintptr_t section, caller;
  uint64_t acquisitions, contended, wait, hold;
};

enum { RELOCK_SITES = 16 }; /* of a class and thread that are told apart */

/* Of one class. */
struct relock_class_times {
  struct relock_distribution wait, hold;
  struct relock_distribution idle;      /* waits on condition variables that are over */
  uint64_t came_from[RELOCK_DISTANCES]; /* of all holds that are over */
  uint32_t sure;                        /* so many of the next ones are timed in any case */
  uint64_t waiters, waiters_max;        /* that waits found, in all and at most */
  uint64_t trylock_failures, timeouts, reentries;
  struct relock_site sites[RELOCK_SITES];
};

/* Sections of all threads, each one's inside another one not counted. */
struct relock_section_times {
  uint64_t ticks, count;
  uint64_t foreign_releases;
};

/* Before any mutex is used: those are timed then. */
void relock_times_start(void);

/* By the clocks since the start. */
uint64_t relock_times_ticks_per_second(void);
uint64_t relock_times_ns(uint64_t ticks);

/* What a recording costs where the hold is timed and where it is not, and what of the former lies
 * in a hold; ticks times 1024. */
uint64_t relock_times_cost(void), relock_times_untimed_cost(void), relock_times_bias(void);

/* Times that found no room. */
uint64_t relock_times_dropped(void);

/* --- by mutex.c and cond.c: of timed mutexes; self may be null --- */

/* Where an acquisition began. */
struct relock_acquisition {
  uint64_t asked; /* 0: it did not have to wait */
  uintptr_t section, caller;
  uint32_t waiters; /* that were there before */
  bool tried;       /* by a trylock */
  struct relock_traced traced;
};

/* Before a call takes the mutex or passes a section on, if its thread traces it, and when it finds
 * that it has to wait: by now and then one of each the recorder learns where such calls come from.
 */
void relock_times_trace(struct relock_thread *self, const relock_class_t *lock_class,
                        struct relock_acquisition *acquisition);
void relock_times_trace_wait(struct relock_thread *self, const relock_class_t *lock_class,
                             struct relock_acquisition *acquisition);

/* A thread waits for a mutex from now on; how many others do. Until it, or whoever runs its
 * section, has it. */
uint32_t relock_times_wait_begins(const relock_mutex_t *mutex);
void relock_times_wait_ends(const relock_mutex_t *mutex);

/* The owner of a timed mutex, where that is no thread pointer, is a mark: which thread has it, or
 * had it last, and on which processor. A thread that runs another one's section has the mutex
 * itself: what moves from processor to processor is the data. */
struct relock_arrival {
  uintptr_t mark; /* to be left */
  enum relock_distance distance;
};

/* The thread that runs has the word of a mutex with that owner. self: whoever it is by its thread
 * pointer; may be null. */
struct relock_arrival relock_times_arrive(const struct relock_thread *self, uintptr_t owner);

/* A holder has the mutex. Returns the mark. */
uintptr_t relock_times_acquired(struct relock_thread *self, relock_mutex_t *mutex,
                                const relock_class_t *lock_class,
                                const struct relock_acquisition *acquisition);
/* Gave up after so long. */
void relock_times_gave_up(struct relock_thread *self, const relock_class_t *lock_class,
                          uint64_t asked, uint32_t waiters);
void relock_times_try_failed(struct relock_thread *self, const relock_class_t *lock_class);
void relock_times_reentered(struct relock_thread *self, const relock_class_t *lock_class);

/* A hold that is over; what is counted of it when the mutex is released. */
struct relock_hold {
  uint64_t ticks;
  uint32_t weight; /* how many it stands for; 0: it was not timed */
  enum relock_distance distance;
  uint32_t index; /* of the class, plus 1; 0: unknown */
  struct relock_site *site;
  struct relock_traced traced;
};
struct relock_hold relock_times_release(struct relock_thread *self, relock_mutex_t *mutex);
void relock_times_released(struct relock_thread *self, const struct relock_hold *hold);

/* A call of relock_execute begins that passes its section on, waits: until that has run, and is
 * over: what it took from its section's start to its end, from where that had the mutex, what it
 * waited for it (0 if not contended). The mutex may be gone by then. */
void relock_times_execute(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                          bool waits, uint64_t now);
void relock_times_executed(struct relock_thread *self, const relock_mutex_t *mutex, uint32_t index,
                           const struct relock_acquisition *acquisition, uint64_t wait,
                           uint64_t hold, enum relock_distance distance, uint64_t now);

/* A section that was passed to relock_submit(), and when it ran. A thread has one at a time, which
 * is overwritten by the next; the memory stays. Null: no room. */
struct relock_timed_submission {
  relock_mutex_t *mutex;
  relock_section_t section;
  unsigned char context[RELOCK_COPY_MAX];
  enum relock_distance distance;
  uint64_t start, end, slept;
  struct relock_acquisition acquisition;
};
struct relock_timed_submission *relock_times_submission(struct relock_thread *self);

/* What the thread that runs now has slept on condition variables so far: not part of a hold. */
uint64_t relock_times_slept(void);

/* Around a wait on a condition variable with a mutex of that class, which is not held. */
void relock_times_sleep(struct relock_thread *self, const relock_class_t *lock_class);
void relock_times_wake(struct relock_thread *self);

/* --- by the statistics --- */

/* Under which number the recorder (recorder.h) knows a class; 0: none. */
uint32_t relock_times_recorded_as(uint32_t index);

/* Adds up what all threads have, waits that last included. Sites that find no room are added to
 * the number of those omitted. */
enum { RELOCK_SITES_SHOWN = 20 };
struct relock_times_sum {
  struct relock_class_times all; /* without its sites */
  uint64_t waiting;              /* threads that wait on condition variables now */
  struct relock_site sites[RELOCK_SITES_SHOWN * 2];
  uint32_t site_count, sites_omitted;
};
void relock_times_add_up(uint32_t index, struct relock_times_sum *sum);
uint64_t relock_times_waited(uint32_t index); /* the total of its waits alone */
void relock_times_add_up_sections(struct relock_section_times *sum);

/* A record has got another thread. */
void relock_times_thread_starts(struct relock_thread *record);
/* A forked child times from zero, what its thread holds included. */
void relock_times_after_fork(void);

#endif
