/* SPDX-License-Identifier: MIT
 *
 * Included before everything else, in the profiler's library and in the program: a clock that the
 * program has, and that goes on only where somebody reads it. What is measured then depends on no
 * machine and on nobody else that uses it. The profiler's own readings are part of each hold, as on
 * a real machine, and are taken off again.
 */
#ifndef _GNU_SOURCE /* the sources do so after this */
#define _GNU_SOURCE
#define OWN_CLOCK_CAME_FIRST
#endif
#include "base/arch.h"
#ifdef OWN_CLOCK_CAME_FIRST
#undef _GNU_SOURCE
#endif

enum { OWN_CLOCK_STEP = 20, OWN_CLOCK_PER_US = 1000 };

#ifdef OWN_CLOCK_IS_HERE
uint64_t own_clock;
#else
extern uint64_t own_clock __attribute__((weak)); /* its address is null in the program's helpers */
#endif

static inline uint64_t own_clock_read(void) {
  return &own_clock ? __atomic_add_fetch(&own_clock, OWN_CLOCK_STEP, __ATOMIC_SEQ_CST) : 0;
}

#define relock_ticks own_clock_read
#define relock_ticks_early own_clock_read
#define relock_ticks_per_millisecond() (OWN_CLOCK_PER_US * UINT64_C(1000))
