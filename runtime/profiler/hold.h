/* SPDX-License-Identifier: MIT
 *
 * What is recorded of a lock with one holder when a thread gets it and gives it up, and of the
 * section that it is in. Nearly all of the profiler's cost lies on this way, where nobody else
 * wants the lock: so it is inline, divides and calls nothing, and writes only lines that the
 * thread, or the holder of the lock, has already.
 */
#ifndef RELOCK_PROFILER_HOLD_H
#define RELOCK_PROFILER_HOLD_H

#include "nesting.h"
#include "processor.h"
#include "record.h"
#include "sample.h"

/* A hold that is over. */
struct hold {
  uint64_t ticks;
  enum relock_distance distance; /* from which the lock had come */
};

/* Ticks between the first reading of the clock and the last one that are the profiler's own and the
 * real functions', where nobody else wants the lock: what a hold lasts in which nothing happens. */
extern uint64_t hold_bias;

/* Takes the object, and those that other threads have released meanwhile, out of what the thread
 * holds. */
enum relock_distance hold_forget(struct thread *thread, const struct relock_object *object);
/* The lock had another owner. */
enum relock_distance hold_handed_over(struct relock_counts *counts);
void hold_came_from(struct thread *thread, uint32_t group, enum relock_distance distance);

/* Other threads may write these two while they are looked at. Atomic, though on their own, so that
 * compilers do not make one load of both: it would have to wait until both stores are done. */
static inline bool is_held(const struct relock_object *object) {
  return __atomic_load_n(&object->counts.depth, __ATOMIC_RELAXED) != 0;
}
static inline bool holds(const struct thread *thread, const struct relock_object *object) {
  return __atomic_load_n(&object->counts.owner, __ATOMIC_RELAXED) == thread->id && is_held(object);
}

/* Of a lock that is about to be released, which mostly is the one that was acquired last. */
static inline struct relock_object *
hold_find(const struct thread *thread, enum relock_primitive primitive, const void *address) {
  if (LIKELY(thread->held_count)) {
    struct relock_object *last = thread->held[thread->held_count - 1].object;
    if (LIKELY(last->address == (uintptr_t)address && last->primitive == primitive))
      return last;
  }
  return primitive_find(primitive, address);
}

/* A wait for a lock, or a read hold, is section time: acquisition included. */
static inline void section_begins(struct thread *thread, uint64_t now) {
  if (!thread->record->section_start) {
    thread->record->section_start = now;
    thread->record->sections++;
  }
}

static inline void section_may_end(struct thread *thread, uint64_t now) {
  if (!thread->held_count && !thread->read_count && thread->record->section_start) {
    thread->record->section_time += now - thread->record->section_start;
    thread->record->section_start = 0;
  }
}

/* The bias is the usual one: a hold can be shorter. */
static inline uint64_t hold_length(uint64_t start, uint64_t end) {
  return end > start ? end - start : 0;
}

/* `before`: when the operation began to wait; `tried`: by a trylock. */
static inline void hold_begins(struct thread *thread, struct relock_object *object, uint64_t before,
                               uint64_t after, bool tried) {
  struct relock_counts *counts = &object->counts;
  enum relock_distance distance = RELOCK_SAME_THREAD;
  if (UNLIKELY(counts->owner != thread->id)) {
    if (counts->owner)
      distance = hold_handed_over(counts);
    counts->owner = thread->id;
  }
  counts->depth = 1;
  counts->hold_start = after;
  section_begins(thread, before);
  if (UNLIKELY(thread->held_count))
    nesting_count(thread, object, tried);
  if (LIKELY(thread->held_count < HELD_MAX)) {
    struct held *held = &thread->held[thread->held_count++];
    held->object = object;
    held->distance = distance;
  } else {
    count_drop(&header->dropped_nestings); /* those inside it */
  }
}

/* Its end is that of the section, too, if nothing else is held. `own`: ticks of it that the
 * profiler has spent. */
static inline struct hold hold_ends(struct thread *thread, struct relock_object *object,
                                    uint64_t own) {
  struct relock_counts *counts = &object->counts;
  uint64_t now = relock_ticks_on(&counts->processor);
  struct hold hold = {hold_length(counts->hold_start + own, now), RELOCK_SAME_THREAD};
  object->times.hold += hold.ticks;
  counts->holds++;
  counts->depth = 0;
  if (LIKELY(thread->held_count == 1 && thread->held[0].object == object)) {
    hold.distance = thread->held[0].distance;
    thread->held_count = 0;
  } else {
    hold.distance = hold_forget(thread, object);
  }
  if (UNLIKELY(thread->pending_count))
    sample_released(thread, object, hold.ticks);
  section_may_end(thread, now);
  return hold;
}

/* After the release, so that it lengthens no hold. */
static inline void hold_measure(struct thread *thread, uint32_t group, struct hold hold) {
  measure(thread, group, RELOCK_HOLD, hold.ticks);
  if (UNLIKELY(hold.distance))
    hold_came_from(thread, group, hold.distance);
}

#endif
