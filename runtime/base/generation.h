/* SPDX-License-Identifier: MIT
 *
 * What fork does to the runtime. The child has one thread. Waiters of other threads are gone, but
 * the mutexes and condition variables that name them were copied. Every such reference carries
 * the generation in which it was made: one from an older generation names nobody.
 */
#ifndef RELOCK_BASE_GENERATION_H
#define RELOCK_BASE_GENERATION_H

#include "atomic.h"

#include <stdint.h>

/* How many forks lie between this process and the one that started. Changed only in a child that
 * has one thread yet. */
extern uint32_t relock_generation_counter RELOCK_HIDDEN;

static inline uint32_t relock_generation(void) {
  return relock_load_relaxed(&relock_generation_counter);
}

#endif
