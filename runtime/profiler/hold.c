/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hold.h"
#include "events.h"

#include <stdlib.h>

/* A thread that could time more holds times one in 10 us, so that timing takes well below 1 % of
 * it. Beyond one in 64 nothing is gained by timing fewer. */
enum { PER_MILLISECOND = 100, PERIOD_MAX = 64, BLOCK = 32 };
/* A lock that was held for 4 us, which is long beside two readings of the clock, is timed the next
 * times, too: long holds are few, and make up sums. */
enum { LONG_PER_MILLISECOND = 250, TIMED_AFTER_LONG = 16 };

uint64_t hold_bias;
static uint64_t interval, long_hold;

void timing_start(void) {
  interval = secure_getenv(RELOCK_RECORDS_TIME_ALL) ? 0 : ticks_per_millisecond() / PER_MILLISECOND;
  long_hold = ticks_per_millisecond() / LONG_PER_MILLISECOND;
}

/* By so many timed holds at a time, so that a short burst is timed as a whole; or by fewer, where
 * these took long already. */
static void adapt(struct timing *timing) {
  uint64_t elapsed = timing->last - timing->block_start, period;
  if (++timing->block_count < BLOCK && elapsed < 2 * BLOCK * interval)
    return;
  period = elapsed ? timing->due.period * timing->block_count * interval / elapsed : PERIOD_MAX;
  if (period > 2 * timing->due.period)
    period = 2 * timing->due.period;
  timing->due.period = period < 1 ? 1 : period > PERIOD_MAX ? PERIOD_MAX : period;
  timing->block_start = timing->last;
  timing->block_count = 0;
}

static uint32_t timing_gap(struct timing *timing) {
  uint32_t weight = (uint32_t)timing->due.period;
  adapt(timing);
  timing->due.countdown = sample_random_gap(&timing->due);
  return weight;
}

void hold_prepare(struct thread *thread, const struct relock_object *object, bool sampled,
                  struct special *special) {
  unsigned due = thread->countdown ? 0 : samples_due(thread);
  *special = (struct special){.weight = 0};
  if (due & DUE_BACKTRACE)
    special->sample = sample_acquisition(thread, sampled ? object : NULL);
  if (due & DUE_EVENT)
    special->sample.event_weight = event_prepare(thread);
  if (due & DUE_TIMING)
    special->weight = timing_gap(&thread->timing);
  if (due)
    samples_await(thread);
  special->before = relock_ticks_early();
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

enum relock_distance hold_handed_over(const struct thread *thread, struct relock_counts *counts) {
  counts->handovers++;
  return processor_distance(counts->processor, processor_here(thread->processor));
}

enum relock_distance hold_forget(struct thread *thread, const struct relock_object *object) {
  enum relock_distance distance = RELOCK_SAME_THREAD;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < thread->held_count; i++) {
    if (thread->held[i].object == object)
      distance = thread->held[i].distance;
    else if (holds(thread, thread->held[i].object))
      thread->held[kept++] = thread->held[i];
  }
  thread->held_count = kept;
  return distance;
}

struct hold hold_ends_timed(struct thread *thread, struct relock_object *object, uint64_t own) {
  struct relock_counts *counts = &object->counts;
  uint64_t now = relock_ticks();
  struct hold hold = {hold_length(counts->hold_start + own, now), counts->hold_weight,
                      RELOCK_SAME_THREAD};
  if (hold.weight) {
    object->times.hold += hold.weight * hold.ticks;
    object->times.weights += hold.weight;
  }
  if (hold.ticks >= long_hold && counts->sure < TIMED_AFTER_LONG)
    counts->sure = TIMED_AFTER_LONG;
  hold.distance = hold_counted(thread, object);
  if (thread->pending_count)
    sample_released(thread, object, hold.ticks);
  if (section_may_end(thread))
    section_ends(thread, now);
  return hold;
}

void hold_came_from(struct thread *thread, uint32_t group, enum relock_distance distance) {
  struct relock_histogram *histogram = histogram_made(thread, group, RELOCK_HOLD);
  if (histogram)
    histogram->handovers[distance - 1]++;
}
