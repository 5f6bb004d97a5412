/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <stddef.h>

/* A thread that acquires locks at most so often per millisecond of its processor time has all of
 * its holds timed; another one so many. Where programs have other data than the recorder's in the
 * caches, timing a hold takes 0.2 us. Beyond one in 128 nothing is gained by timing fewer. Nor is
 * anything where a thread acquires less than once per millisecond of time, whatever it works. */
enum { ALL_PER_MILLISECOND = 20, PER_MILLISECOND = 5, PERIOD_MAX = 128 };
/* Timed holds from which a rate is taken: many for one that would end the timing of all, so that a
 * short burst does not. */
enum { FIRST_BLOCK = 1024, BLOCK = 32, LONGEST_BLOCK_MS = 8 };

void relock_timing_begin(struct relock_timing *timing, uint32_t number) {
  *timing = (struct relock_timing){{1, 1, number * 0x9e3779b97f4a7c15ull}, 0, 0, 0, 0, 0};
}

/* Nanoseconds that the thread has worked since the block began; or that have passed. */
static uint64_t worked(struct relock_timing *timing, uint64_t elapsed, uint64_t millisecond,
                       uint64_t (*processor_time)(void)) {
  const uint64_t before = timing->block_processor, now = processor_time ? processor_time() : 0;
  timing->block_processor = now;
  return now > before && before ? now - before : 1000000 * elapsed / millisecond;
}

static uint64_t period_for(struct relock_timing *timing, uint64_t acquisitions, uint64_t elapsed,
                           uint64_t millisecond, uint64_t (*processor_time)(void)) {
  const uint64_t least = timing->due.period / 4; /* a pause is no change of the rate */
  uint64_t ns, period = 1;
  if (acquisitions * millisecond <= elapsed) {
    timing->block_processor = 0;
    return least ? least : 1;
  }
  ns = worked(timing, elapsed, millisecond, processor_time);
  if (acquisitions * 1000000 >= PERIOD_MAX * PER_MILLISECOND * ns)
    period = PERIOD_MAX;
  else if (acquisitions * 1000000 > ALL_PER_MILLISECOND * ns)
    period = acquisitions * 1000000 / (PER_MILLISECOND * ns);
  return period > least ? period : least;
}

void relock_timing_adapt(struct relock_timing *timing, uint64_t millisecond,
                         uint64_t (*processor_time)(void)) {
  uint64_t elapsed = timing->last - timing->block_start, period = timing->due.period;
  uint64_t acquisitions;
  if (timing->block_count < (period == 1 ? FIRST_BLOCK : BLOCK) &&
      elapsed < LONGEST_BLOCK_MS * millisecond)
    return;
  acquisitions = period * timing->block_count;
  timing->each = elapsed / acquisitions;
  timing->due.period = period_for(timing, acquisitions, elapsed, millisecond, processor_time);
  timing->block_start = timing->last;
  timing->block_count = 0;
}
