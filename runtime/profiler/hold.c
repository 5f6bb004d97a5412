/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hold.h"

#include <stdlib.h>

/* A thread that acquires locks at most so often per millisecond of its processor time has all of
 * its holds timed; another one so many. Where programs have other data than the profiler's in the
 * caches, timing a hold takes 0.2 us. Beyond one in 64 nothing is gained by timing fewer. Nor is
 * anything where a thread acquires less than once per millisecond of time, whatever it works. */
enum { ALL_PER_MILLISECOND = 20, PER_MILLISECOND = 10, PERIOD_MAX = 64 };
/* Timed holds from which a rate is taken: many for one that would end the timing of all, so that a
 * short burst does not. */
enum { FIRST_BLOCK = 1024, BLOCK = 32, LONGEST_BLOCK_MS = 8 };
/* A lock that was held for 4 us, which is long beside two readings of the clock, is timed the next
 * times, too: long holds are few, and make up sums. */
enum { LONG_PER_MILLISECOND = 250, TIMED_AFTER_LONG = 16 };

uint64_t hold_bias;
static uint64_t millisecond, long_hold; /* in ticks; 0: all holds are timed */
static bool all;

void timing_start(void) {
  all = secure_getenv(RELOCK_RECORDS_TIME_ALL) != NULL;
  long_hold = ticks_per_millisecond() / LONG_PER_MILLISECOND;
  timing_always(false);
}

void timing_always(bool on) { millisecond = on || all ? 0 : ticks_per_millisecond(); }

/* Nanoseconds that the thread has worked since the block began; or that have passed. */
static uint64_t worked(struct timing *timing, uint64_t elapsed) {
  const uint64_t before = timing->block_processor, now = record_processor_time();
  timing->block_processor = now;
  return now > before && before ? now - before : 1000000 * elapsed / millisecond;
}

static uint64_t period_for(struct timing *timing, uint64_t acquisitions, uint64_t elapsed) {
  const uint64_t least = timing->due.period / 4; /* a pause is no change of the rate */
  uint64_t ns, period = 1;
  if (acquisitions * millisecond <= elapsed) {
    timing->block_processor = 0;
    return least ? least : 1;
  }
  ns = worked(timing, elapsed);
  if (acquisitions * 1000000 >= PERIOD_MAX * PER_MILLISECOND * ns)
    period = PERIOD_MAX;
  else if (acquisitions * 1000000 > ALL_PER_MILLISECOND * ns)
    period = acquisitions * 1000000 / (PER_MILLISECOND * ns);
  return period > least ? period : least;
}

static void adapt(struct timing *timing) {
  uint64_t elapsed = timing->last - timing->block_start, period = timing->due.period;
  uint64_t acquisitions;
  if (++timing->block_count < (period == 1 ? FIRST_BLOCK : BLOCK) &&
      elapsed < LONGEST_BLOCK_MS * millisecond)
    return;
  acquisitions = period * timing->block_count;
  timing->each = elapsed / acquisitions;
  timing->due.period = period_for(timing, acquisitions, elapsed);
  timing->block_start = timing->last;
  timing->block_count = 0;
}

static void timing_gap(struct timing *timing) {
  adapt(timing);
  timing->due.countdown = sample_random_gap(&timing->due);
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

/* What the thread waits for ends when the clock is read anyway, and can take long: from here on its
 * section, and what it holds, are timed for themselves alone. */
void section_waits(struct thread *thread, uint64_t now) {
  struct relock_thread *record = thread->record;
  if (!in_section(thread))
    record->sections++;
  if (record->section_start && record->section_weight != 1)
    section_ends(thread, now);
  record->section_weight = 1;
  if (!record->section_start)
    record->section_start = now;
  for (uint32_t i = 0; i < thread->held_count; i++) {
    struct relock_object *object = thread->held[i].object;
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
 * acquisitions later. If it holds nothing, what it acquires next begins now. */
void section_resumed(struct thread *thread) {
  const bool lost = !thread->area->mark;
  thread->area->mark = PROCESSOR_MARK;
  if (lost && in_section(thread)) {
    const uint64_t before = thread->clock_countdown, now = thread->countdown;
    section_waits(thread, thread->clock + (before > now ? before - now : 0) * thread->timing.each);
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

void hold_forget(struct thread *thread, const struct relock_object *object) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < thread->held_count; i++)
    if (thread->held[i].object != object && holds(thread, thread->held[i].object))
      thread->held[kept++] = thread->held[i];
  thread->held_count = kept;
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
  if (hold.ticks >= long_hold && counts->sure < TIMED_AFTER_LONG) {
    if (!counts->sure)
      object_mark_sure(object, true);
    counts->sure = TIMED_AFTER_LONG;
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
