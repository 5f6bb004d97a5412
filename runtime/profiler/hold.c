/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hold.h"
#include "histograms.h"
#include "objects.h"
#include "store.h"

#include <stdlib.h>

uint64_t hold_bias;
static uint64_t millisecond, long_hold; /* in ticks; 0: all holds are timed */
static bool all;

void timing_start(void) {
  all = secure_getenv(RELOCK_RECORDS_TIME_ALL) != NULL;
  long_hold = relock_ticks_per_millisecond() / RELOCK_LONG_PER_MILLISECOND;
  processor_start();
  timing_always(false);
}

void timing_always(bool on) { millisecond = on || all ? 0 : relock_ticks_per_millisecond(); }

static void timing_gap(struct relock_timing *timing) {
  timing->block_count++;
  relock_timing_adapt(timing, millisecond, record_processor_time);
  timing->due.countdown = relock_random_gap(&timing->due.random, timing->due.period);
}

void hold_prepare(struct thread *thread, const struct relock_object *object, bool reading,
                  struct special *special) {
  unsigned due = thread->countdown ? 0 : samples_due(thread);
  *special = (struct special){.sample = sample_acquisition(thread, object, reading, due)};
  if (due & DUE_TIMING)
    special->weight = (uint32_t)thread->timing.due.period;
  if (lost_processor(thread))
    section_resumed(thread);
  if (due & DUE_TIMING) /* asks the system, and may lose the processor there: in no hold */
    timing_gap(&thread->timing);
  if (due)
    samples_await(thread);
  special->before = relock_ticks_early();
  clock_was_read(thread, special->before);
  if (due & DUE_TIMING)
    thread->timing.last = special->before;
}

void hold_begins_timed(struct thread *thread, struct relock_object *object, struct timed timed,
                       bool tried) {
  hold_begins(thread, object, timed, tried);
}

/* What the thread waits for ends when the clock is read anyway, and can take long: from here on its
 * section, and what it holds, are timed for themselves alone. */
void section_waits(struct thread *thread, uint64_t now) {
  struct relock_thread_record *record = thread->record;
  if (!in_section(thread))
    record->sections++;
  if (record->section_start && record->section_weight != 1)
    section_ends(thread, now);
  record->section_weight = 1;
  if (!record->section_start)
    record->section_start = now;
  for (uint32_t i = 0; i < thread->held_count; i++) {
    struct relock_object *object = thread->held[i].object;
    thread->held[i].plain = 0;
    if (!holds(thread, object))
      continue; /* another thread has released it meanwhile */
    object->counts.hold_weight = 1;
    if (!object->counts.hold_start)
      object->counts.hold_start = now;
  }
  for (uint32_t i = 0; i < thread->read_count; i++) {
    thread->reads[i].weight = 1;
    if (!thread->reads[i].since)
      thread->reads[i].since = now;
  }
}

/* What it held, and its section, have begun after the clock was read last, and about so many
 * acquisitions later. If it holds nothing, what it acquires next begins now. Where the thread may
 * have slept in between without being told, nobody knows when it began, and holds in which it loses
 * its processor are chosen as others are. */
void section_resumed(struct thread *thread) {
  const bool lost = processor_tells && !thread->area->mark;
  processor_noticed(thread);
  if (lost && in_section(thread)) {
    const uint64_t before = thread->clock_countdown, now = thread->countdown;
    const uint64_t later = (before > now ? before - now : 0) * thread->timing.each;
    section_waits(thread, thread->clock + (later > thread->untimed ? later : thread->untimed));
  }
  clock_was_read(thread, relock_ticks_early());
}

bool read_forget(struct thread *thread, const void *lock, struct read_hold *hold) {
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  for (uint32_t i = thread->read_count; i-- > 0;) {
    if (thread->reads[i].lock != lock)
      continue;
    *hold = thread->reads[i];
    thread->read_count--;
    for (; i < thread->read_count; i++)
      thread->reads[i] = thread->reads[i + 1];
    return true;
  }
  return false;
}

/* Of a lock that the thread holds. */
static enum relock_distance distance_of(const struct thread *thread,
                                        const struct relock_object *object) {
  for (uint32_t i = thread->held_count; i-- > 0;) {
    const struct held *held = &thread->held[i];
    if (held->object == object)
      return held->from == FROM_ITSELF ? RELOCK_SAME_THREAD
                                       : relock_processor_distance(held->from, held->to);
  }
  return RELOCK_SAME_THREAD;
}

struct hold hold_ends_timed(struct thread *thread, struct relock_object *object, uint64_t own) {
  struct relock_counts *counts = &object->counts;
  uint64_t now = relock_ticks();
  struct hold hold = {hold_length(counts->hold_start + own, now), counts->hold_weight,
                      distance_of(thread, object)};
  clock_was_read(thread, now);
  if (hold.weight) {
    object->times.hold += hold.weight * hold.ticks;
    object->times.weights += hold.weight;
  }
  if (hold.ticks >= long_hold && counts->sure < RELOCK_TIMED_AFTER_LONG) {
    if (!counts->sure)
      object_mark_sure(object, true);
    counts->sure = RELOCK_TIMED_AFTER_LONG;
  }
  hold_counted(thread, object);
  if (thread->pending_count)
    sample_released(thread, object, counts->hold_start, hold.ticks);
  if (section_may_end(thread))
    section_ends(thread, now);
  return hold;
}

void hold_came_from(struct thread *thread, uint32_t group, struct hold hold) {
  struct relock_histogram *histogram = histogram_made(thread, group, RELOCK_HOLD);
  if (histogram)
    histogram->handovers[hold.distance - 1] += hold.weight;
}
