/* SPDX-License-Identifier: MIT
 *
 * Which call acquires a lock, or waits for what is no lock: the backtrace of one acquisition in so
 * many, and of one wait in so many, is looked up before the lock is acquired and stands for those
 * since the last one. How many that are adapts to about a sample per thread and interval, and the
 * interval to what samples cost: unless it was asked for, they get some milliseconds, and from then
 * on a small part of the processor time that the thread takes. In the same way sections are chosen
 * whose events are counted: see events.h.
 */
#ifndef RELOCK_PROFILER_SAMPLE_H
#define RELOCK_PROFILER_SAMPLE_H

#include "../statistics/recorder.h"
#include "events.h"
#include "gaps.h"

/* One acquisition in the making; without a site and weights it is none. */
struct sample {
  struct relock_site *site;
  uint64_t weight, wait_weight; /* how many acquisitions, and how many waits, it stands for */
  uint64_t event_weight;        /* and how many sections, if its events are counted */
  bool reading;                 /* of an rwlock */
};

/* One wait for something other than a lock; without a site it is none. */
struct wait_sample {
  struct relock_site *site;
  uint64_t weight; /* how many waits it stands for */
};

/* Of the next acquisition more than counts is to be recorded when the thread's countdown is over:
 * then these say for which purposes, and what has been dealt with is waited for again. */
enum { DUE_BACKTRACE = 1, DUE_EVENT = 2, DUE_TIMING = 4 };
unsigned samples_due(struct thread *thread);
void samples_await(struct thread *thread);

/* Reads the interval from the environment. */
void sample_start(void);
/* A new thread: its first acquisitions are all samples, until it shows how many there are. */
void sample_begin(struct thread *thread);

/* Ticks between two samples of a thread; 0: every acquisition is one. */
uint64_t sample_interval(void);

/* For those purposes that are due. */
struct sample sample_acquisition(struct thread *thread, const struct relock_object *object,
                                 bool reading, unsigned due);
void sample_wait(struct thread *thread, const struct relock_object *object, struct sample *sample);

/* The sampled acquisition succeeded after waiting for so long, or gave up. All else that is to be
 * recorded of it has been. `hold_start`: of the hold that begins, which it tells from others of the
 * thread; 0: none does, as the lock was held before. */
void sample_acquired(struct thread *thread, const struct relock_object *object,
                     const struct sample *sample, uint64_t hold_start, uint64_t wait);
void sample_gave_up(const struct sample *sample, uint64_t wait);
/* A hold ends, and samples are pending. */
void sample_released(struct thread *thread, const struct relock_object *object, uint64_t hold_start,
                     uint64_t hold);

/* A call of librelock (../statistics/recorder.h), which says when one is due, and when it is over.
 * Returns how many calls on the next one is due. */
uint32_t sample_librelock(struct thread *thread, uint32_t group,
                          const struct relock_call_place *place, struct relock_traced *traced);
void sample_librelock_took(const struct relock_traced *traced, bool waited, uint64_t ticks);
void sample_librelock_held(const struct relock_traced *traced, uint64_t ticks);

/* Before a wait for what is no lock; and after it, if it has taken so long. */
struct wait_sample sample_other_wait(struct thread *thread, uint32_t group);
void sample_waited(const struct wait_sample *sample, uint64_t wait);

#endif
