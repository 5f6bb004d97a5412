/* SPDX-License-Identifier: MIT
 *
 * Events in critical sections, such as cache misses: of one section in so many the thread reads a
 * counter of its own behind the acquisition and before the release. Which event that is comes from
 * the environment; without it, nothing is counted.
 */
#ifndef RELOCK_PROFILER_EVENTS_H
#define RELOCK_PROFILER_EVENTS_H

#include "thread.h"

/* Reads the event from the environment. sampled: the interval of samples, in ticks. */
void events_start(uint64_t sampled);
/* Opens the counter of this, the first thread, or says in the header why there is none. */
void events_calibrate(struct thread *thread);
/* The records of a thread are new. */
void events_begin_thread(struct thread *thread);
void events_end_thread(struct thread *thread);
/* In the child of a fork: the counters are those of the parent's threads. */
void events_forget(struct thread *thread);
void events_forgotten(void);
/* The program is about to tell the kernel which system calls it will make; or could not. */
void events_confine(bool on);

/* Before the acquisition of a section that is to be counted: how many sections it stands for; 0: it
 * cannot be counted. */
uint64_t event_prepare(struct thread *thread);
/* The thread has acquired the object, and all that is to be recorded of that is. */
void event_section_begins(struct thread *thread, const struct relock_object *object,
                          uint64_t hold_start, bool reading, uint64_t weight);
/* It is about to release it, and sections are being counted. */
uint64_t event_counted_section_ends(struct thread *thread, const struct relock_object *object,
                                    uint64_t hold_start);
/* It is about to release it. Returns how much of the hold was reading the counter, in ticks. */
static inline uint64_t event_section_ends(struct thread *thread, const struct relock_object *object,
                                          uint64_t hold_start) {
  return hold_start && UNLIKELY(thread->events.count)
             ? event_counted_section_ends(thread, object, hold_start)
             : 0;
}

#endif
