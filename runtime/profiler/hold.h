/* SPDX-License-Identifier: MIT
 *
 * What is recorded of a lock with one holder when a thread gets it and gives it up, and of the
 * section that it is in. Nearly all of the profiler's cost lies on this way, where nobody else
 * wants the lock: so it is inline, divides and calls nothing, and writes only lines that the
 * thread, or the holder of the lock, has already.
 *
 * What happened is counted each time. Reading the clock costs more than all the rest, so a thread
 * that acquires more than 20 times per millisecond of its processor time reads it for one
 * acquisition in so many, chosen at random, which then stands for all of these: its hold, and its
 * section if it is the outermost one. Sums stay unbiased, for whether a hold is timed never depends
 * on how long it becomes. Timed in any case, and for themselves alone, are the first holds of each
 * lock, those that follow a long one of that lock, those for which the thread had to wait, from
 * there on those in which it waits for something, and those in which it loses its processor: few,
 * but long.
 */
#ifndef RELOCK_PROFILER_HOLD_H
#define RELOCK_PROFILER_HOLD_H

#include "held.h"
#include "histograms.h"
#include "nesting.h"
#include "objects.h"
#include "processor.h"
#include "sample.h"
#include "store.h"

#include <string.h>

/* A hold that is over. */
struct hold {
  uint64_t ticks;
  uint32_t weight;               /* how many it stands for; 0: it was not timed */
  enum relock_distance distance; /* from which the lock had come */
};

/* How a hold begins that nobody else was in the way of. */
struct timed {
  uint64_t start; /* 0: it is not timed */
  uint32_t weight;
};

/* Ticks between the first reading of the clock and the last one that are the profiler's own and the
 * real functions', where nobody else wants the lock: what a hold lasts in which nothing happens. */
extern uint64_t hold_bias;

/* Takes the latest hold of the lock out of those that the thread reads under. */
bool read_forget(struct thread *thread, const void *lock, struct read_hold *hold);
void hold_came_from(struct thread *thread, uint32_t group, struct hold hold);
/* The hold was timed; the same as hold_ends(). */
struct hold hold_ends_timed(struct thread *thread, struct relock_object *object, uint64_t own);

/* Reads the environment. */
void timing_start(void);
/* While the profiler measures itself. */
void timing_always(bool on);

/* An acquisition of which more than counts is to be recorded. */
struct special {
  struct sample sample;
  uint64_t before;
  uint32_t weight; /* how many it stands for where it was chosen to be timed */
};
/* Before it is attempted; see hold_is_special(). `reading`: of an rwlock. */
void hold_prepare(struct thread *thread, const struct relock_object *object, bool reading,
                  struct special *special);
/* The thread seems to have lost its processor. */
void section_resumed(struct thread *thread);
/* The thread begins to wait, holding other locks or not. */
void section_waits(struct thread *thread, uint64_t now);

/* Once. One load and one comparison, of what is written together. */
static inline bool holds_once(const struct thread *thread, const struct relock_object *object) {
  _Static_assert(offsetof(struct relock_counts, depth) - offsetof(struct relock_counts, owner) ==
                     offsetof(struct thread, once) - offsetof(struct thread, id),
                 "together");
  return !memcmp(&object->counts.owner, &thread->id, 8);
}

static inline bool hold_is_of(const struct held *held, enum relock_primitive primitive,
                              const void *address) {
  return held->object->address == (uintptr_t)address && held->object->primitive == primitive;
}

/* Of a lock that is about to be released, which mostly is the one that was acquired last. */
static inline struct relock_object *
hold_find(const struct thread *thread, enum relock_primitive primitive, const void *address) {
  for (uint32_t i = thread->held_count; i-- > 0;)
    if (LIKELY(hold_is_of(&thread->held[i], primitive, address)))
      return thread->held[i].object;
  return primitive_find(primitive, address);
}

/* Atomic, as in is_held(): one load of both bytes would wait for the store of either. */
static inline bool in_section(const struct thread *thread) {
  return __atomic_load_n(&thread->held_count, __ATOMIC_RELAXED) ||
         __atomic_load_n(&thread->read_count, __ATOMIC_RELAXED);
}

/* The thread holds nothing else. After a wait for a lock the section has begun already: acquisition
 * included. */
static inline void outermost_begins(struct relock_thread_record *record, struct timed timed) {
  if (UNLIKELY(record->section_start))
    return;
  record->sections++;
  if (UNLIKELY(timed.weight)) {
    record->section_weight = timed.weight;
    record->section_start = timed.start;
  }
}

/* Before the lock is added to those that the thread holds. */
static inline void section_begins(struct thread *thread, struct timed timed) {
  if (!in_section(thread))
    outermost_begins(thread->record, timed);
}

/* The bias is the usual one, and some beginnings are estimates: a hold can be shorter. */
static inline uint64_t hold_length(uint64_t start, uint64_t end) {
  return end > start ? end - start : 0;
}

static inline bool section_may_end(const struct thread *thread) {
  return UNLIKELY(thread->record->section_start) && !in_section(thread);
}
static inline void section_ends(struct thread *thread, uint64_t now) {
  struct relock_thread_record *record = thread->record;
  record->section_time += record->section_weight * hold_length(record->section_start, now);
  record->section_start = 0;
}

/* Looks at it. */
static inline void processor_noticed(const struct thread *thread) {
  thread->area->mark = PROCESSOR_MARK;
}

static inline void clock_was_read(struct thread *thread, uint64_t now) {
  thread->clock = now;
  thread->clock_countdown = thread->countdown;
  thread->untimed = 0;
}

/* Whether more than counts is to be recorded of its next acquisition, of whatever lock. */
static inline bool thread_is_due(struct thread *thread) {
  const bool due = --thread->countdown == 0;
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  return UNLIKELY(due);
}

/* Whether more than counts is to be recorded of the next acquisition of a lock: it is a sample for
 * some purpose, or timed in any case. Others may write the latter while it is looked at. */
static inline bool hold_is_special(struct thread *thread, const struct relock_object *object) {
  return thread_is_due(thread) || UNLIKELY(__atomic_load_n(&object->counts.sure, __ATOMIC_RELAXED));
}

/* Acquired at the first attempt. `sure`: it is timed in any case. What its call and its events are
 * counted for has a beginning, too, which tells it from other holds. */
static inline struct timed special_timed(const struct special *special, bool sure) {
  struct timed timed = {special->before + hold_bias, sure ? 1 : special->weight};
  if (!timed.weight && !special->sample.site && !special->sample.event_weight)
    timed.start = 0;
  return timed;
}

static inline struct timed hold_timed(struct relock_object *object, const struct special *special) {
  const bool sure = object->counts.sure != 0;
  if (sure && --object->counts.sure == 0)
    object_mark_sure(object, false);
  return special_timed(special, sure);
}

/* The same as nesting_count(), where the thread holds one other lock, once, and what it acquired in
 * that last was of the same group; false: it is not so. */
static inline bool nesting_counted_again(struct thread *thread, const struct relock_object *object,
                                         bool tried) {
  const struct held *outer = &thread->held[0];
  struct relock_nesting *nesting = outer->nesting;
  if (__atomic_load_n(&thread->held_count, __ATOMIC_RELAXED) != 1 || /* see in_section() */
      __atomic_load_n(&thread->read_count, __ATOMIC_RELAXED) || !nesting ||
      outer->nested != nested_groups(object->group, outer->object->group) ||
      outer->object == object || !holds_once(thread, outer->object))
    return false;
  nesting->count++;
  nesting->tried += tried;
  return true;
}

/* The thread has a lock. `tried`: by a trylock. */
static ALWAYS_INLINE void hold_begins(struct thread *thread, struct relock_object *object,
                                      struct timed timed, bool tried) {
  struct relock_counts *counts = &object->counts;
  struct relock_thread_record *record = thread->record;
  struct held *held;
  if (!in_section(thread))
    outermost_begins(record, timed);
  else if (UNLIKELY(!nesting_counted_again(thread, object, tried)))
    nesting_count(thread, object, false, tried);
  held = &thread->held[thread->held_count];
  held->object = object;
  held->plain = timed.start || UNLIKELY(record->section_start) ? 0 : object->address;
  held->from = FROM_ITSELF;
  if (UNLIKELY(counts->owner != thread->id) && counts->owner) {
    counts->handovers++;
    held->from = (uint16_t)counts->processor;
    held->to = (uint16_t)processor_here(thread->area);
  }
  memcpy(&counts->owner, &thread->id, 8); /* see holds_once() */
  counts->hold_start = timed.start;
  if (timed.start)
    counts->hold_weight = timed.weight;
  if (LIKELY(thread->held_count < HELD_MAX))
    thread->held_count++;
  else
    count_drop(&header->dropped_nestings); /* those inside it */
}

/* The same where the code is to be small. */
void hold_begins_timed(struct thread *thread, struct relock_object *object, struct timed timed,
                       bool tried);

static inline bool is_innermost(const struct thread *thread, const struct relock_object *object) {
  return thread->held_count && thread->held[thread->held_count - 1].object == object;
}

static inline void hold_counted(struct thread *thread, struct relock_object *object) {
  struct relock_counts *counts = &object->counts;
  counts->processor = processor_here(thread->area);
  counts->holds++;
  counts->depth = 0;
  if (LIKELY(is_innermost(thread, object)))
    thread->held_count--;
  else
    hold_forget(thread, object);
}

/* The same of the lock acquired last, if nothing is to be recorded but that its hold is over. */
static inline void hold_counted_plain(struct thread *thread, struct relock_object *object) {
  struct relock_counts *counts = &object->counts;
  thread->held_count--;
  counts->processor = processor_here(thread->area);
  counts->holds++;
  counts->depth = 0;
}

/* Of a lock that was acquired last, as the thread remembers it: whether it holds that once, and a
 * count is all that the end of it gives. It is where neither the hold nor its section is timed.
 * What begins either later than the hold takes `plain` back. */
static inline bool hold_is_plain(const struct thread *thread, const struct held *held,
                                 const void *address) {
  return LIKELY(held->plain == (uintptr_t)address) && LIKELY(holds_once(thread, held->object)) &&
         LIKELY(!lost_processor(thread));
}

/* Its end is that of the section, too, if nothing else is held. `own`: ticks of it that the
 * profiler has spent. */
static inline struct hold hold_ends(struct thread *thread, struct relock_object *object,
                                    uint64_t own) {
  struct hold hold = {0, 0, RELOCK_SAME_THREAD};
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  if (UNLIKELY(object->counts.hold_start))
    return hold_ends_timed(thread, object, own);
  hold_counted(thread, object);
  if (section_may_end(thread))
    section_ends(thread, relock_ticks());
  return hold;
}

/* After the release, so that it lengthens no hold. */
static inline void hold_measure(struct thread *thread, uint32_t group, struct hold hold) {
  if (LIKELY(!hold.weight))
    return;
  measure(thread, group, RELOCK_HOLD, hold.ticks, hold.weight);
  if (hold.distance)
    hold_came_from(thread, group, hold);
}

#endif
