/* SPDX-License-Identifier: MIT
 *
 * Which uncontended holds of a thread are timed, where reading the clock for each would cost more
 * than all the rest: one in so many, chosen at random, which stands for these. The same for the
 * profiler and for the library's own statistics, each of which has a struct relock_timing for each
 * thread. Timed in any case, and for themselves alone, are what the constants say, holds for which
 * the thread waited, and those in which it waits.
 */
#ifndef RELOCK_STATISTICS_TIMING_H
#define RELOCK_STATISTICS_TIMING_H

#include "../base/arch.h"

#include <stdint.h>

/* So many holds of each lock, or of each class and thread, are timed in any case: of locks that are
 * seldom taken, all. */
enum { RELOCK_FIRST_TIMED = 64 };
/* A lock that was held for 4 us, which is long beside two readings of the clock, is timed the next
 * times, too: long holds are few, and make up sums. */
enum { RELOCK_LONG_PER_MILLISECOND = 250, RELOCK_TIMED_AFTER_LONG = 16 };

struct relock_timing {
  struct relock_gap {
    uint64_t countdown, period, random; /* period: the mean of the gaps */
  } due;
  uint64_t last; /* when the last one began */
  uint64_t each; /* ticks from one acquisition to the next, about */
  uint64_t block_start, block_processor;
  uint32_t block_count; /* of those that have begun since then */
};

/* Of a thread with that number, above 0: its first acquisition is chosen. */
void relock_timing_begin(struct relock_timing *timing, uint32_t number);

/* After more that were chosen have begun, and counted in the block: the period follows the thread's
 * rate. `millisecond`: in ticks; 0: all holds are timed. processor_time(): nanoseconds that the
 * thread has worked; 0, or null instead: it is not known. Asked for that, the system likes to give
 * the processor to another thread: so it is done where little is held. */
void relock_timing_adapt(struct relock_timing *timing, uint64_t millisecond,
                         uint64_t (*processor_time)(void));

/* The next gap, of random length, because a program's own rhythm would favour one of its calls. */
static inline uint64_t relock_random_gap(uint64_t *random, uint64_t mean) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return 1 + *random % (2 * mean - 1);
}

#endif
