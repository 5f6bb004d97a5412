/* SPDX-License-Identifier: MIT
 *
 * The locks of librelock, which times and counts them: see ../statistics/recorder.h. A lock that is
 * held stands among those that its thread reads under, since it has no record of its own, and its
 * class is a group without locks. Its calls are counted by librelock; samples of them tell here
 * where they come from. What librelock does not say, such as whose lock it was, is not recorded.
 * Its barriers are recorded as those of pthreads are.
 */
#include "../statistics/recorder.h"
#include "histograms.h"
#include "hold.h"
#include "intervals.h"
#include "objects.h"
#include "preload.h"
#include "store.h"
#include "timeline.h"

static uint32_t lock_class(const void *key, bool hidden) {
  struct thread *thread = recording_enter();
  struct relock_object *object;
  if (!thread)
    return 0;
  object = primitive_object(RELOCK_CONVERTED, key);
  if (object && hidden)
    object_hide(object);
  recording_leave(thread);
  return object ? object->group + 1 : UINT32_MAX;
}

/* Inside others. */
static NOINLINE void count_nesting(struct thread *thread, uint32_t group, const void *lock,
                                   bool tried) {
  const struct relock_object taken = {
      .address = (uintptr_t)lock, .group = group, .primitive = RELOCK_CONVERTED};
  nesting_count(thread, &taken, false, tried);
}

/* Field by field, as they are read again soon: a wider load would have to wait for these stores. */
static inline void remember(struct thread *thread, uint32_t group, const void *lock,
                            struct relock_timed timed) {
  struct read_hold *hold = &thread->reads[thread->read_count];
  if (UNLIKELY(thread->read_count == HELD_MAX)) {
    count_drop(&header->dropped_nestings); /* those inside it */
    return;
  }
  hold->lock = lock;
  hold->tally = NULL;
  hold->since = timed.start;
  hold->group = group;
  hold->weight = timed.weight;
  thread->read_count++;
}

/* How it was timed. */
static inline struct relock_timed forget(struct thread *thread, const void *lock) {
  const uint32_t count = thread->read_count;
  struct read_hold hold;
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  if (LIKELY(count && thread->reads[count - 1].lock == lock)) {
    const struct read_hold *last = &thread->reads[--thread->read_count];
    return (struct relock_timed){last->since, last->weight};
  }
  if (read_forget(thread, lock, &hold))
    return (struct relock_timed){hold.since, hold.weight};
  return (struct relock_timed){0, 0};
}

/* Others may have been later, where the thread has lost its processor meanwhile. */
static void clock_was_read_by_library(struct thread *thread, uint64_t now) {
  if (now > thread->clock)
    clock_was_read(thread, now);
}

static void takes(uint32_t number, const void *lock, struct relock_timed timed, uint64_t each,
                  int how) {
  const bool after_wait = how & RELOCK_TAKE_WAITED;
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  if (after_wait) /* which says better than the loss of the processor since when */
    section_waits(thread, timed.start);
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  if (!after_wait)
    section_begins(thread, (struct timed){timed.start, timed.weight});
  if (timed.start)
    clock_was_read_by_library(thread, timed.start);
  else
    thread->untimed += each;
  if (UNLIKELY(in_section(thread)))
    count_nesting(thread, number - 1, lock, how & RELOCK_TAKE_TRIED);
  remember(thread, number - 1, lock, timed);
  recording_leave(thread);
}

static struct relock_timed gives(const void *lock, uint64_t now) {
  struct relock_timed timed = {0, 0};
  struct thread *thread = recording_enter();
  if (!thread)
    return timed;
  timed = forget(thread, lock);
  if (section_may_end(thread))
    section_ends(thread, now ? now : relock_ticks());
  if (now)
    clock_was_read_by_library(thread, now);
  recording_leave(thread);
  return timed;
}

static void waited(uint32_t number, uint64_t start, uint64_t ticks, uint32_t waiters) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  measure_wait(thread, number - 1, RELOCK_WAIT, ticks, waiters);
  timeline_add(thread, number - 1, start, ticks);
  intervals_add(thread, number - 1, start, ticks);
  recording_leave(thread);
}

static void held(uint32_t number, uint64_t ticks, uint32_t weight) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  measure(thread, number - 1, RELOCK_HOLD, ticks, weight);
  recording_leave(thread);
}

static uint32_t trace(uint32_t number, const struct relock_call_place *place,
                      struct relock_traced *traced) {
  enum { LATER = 1000 };
  struct thread *thread = recording_enter();
  if (!thread)
    return LATER;
  const uint32_t next = sample_librelock(thread, number - 1, place, traced);
  recording_leave(thread);
  return next;
}

/* Nothing is recorded any more where a fork in a section could not begin a file. */
static void traced_took(const struct relock_traced *traced, bool waited, uint64_t ticks) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  sample_librelock_took(traced, waited, ticks);
  recording_leave(thread);
}

static void traced_held(const struct relock_traced *traced, uint64_t ticks) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  sample_librelock_held(traced, ticks);
  recording_leave(thread);
}

static void barrier_initialised(const void *barrier) {
  primitive_initialised(RELOCK_BARRIER, barrier);
}

static void barrier_destroyed(const void *barrier) { primitive_destroyed(RELOCK_BARRIER, barrier); }

/* The barrier may be gone afterwards. */
static int barrier_waits(void *barrier, int (*wait)(void *barrier)) {
  const struct waiting waiting = barrier_wait_begins(barrier);
  const int result = wait(barrier);
  barrier_wait_ends(&waiting);
  return result;
}

static void measures(bool begins) {
  static uint64_t sections, section_time;
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  if (begins) {
    sections = thread->record->sections;
    section_time = thread->record->section_time;
  } else {
    thread->record->sections = sections;
    thread->record->section_time = section_time;
  }
  recording_leave(thread);
}

EXPORT const struct relock_recorder RELOCK_RECORDER;
const struct relock_recorder RELOCK_RECORDER = {
    .version = RELOCK_RECORDER_VERSION,
    .lock_class = lock_class,
    .takes = takes,
    .gives = gives,
    .waited = waited,
    .held = held,
    .trace = trace,
    .traced_took = traced_took,
    .traced_held = traced_held,
    .processor_time = record_processor_time,
    .barrier_initialised = barrier_initialised,
    .barrier_destroyed = barrier_destroyed,
    .barrier_waits = barrier_waits,
    .measures = measures,
};
