/* SPDX-License-Identifier: MIT
 *
 * The processor of a simulated machine, in the place of base/arch.h; included before each source of
 * the runtime. What the two have in common comes from there.
 */
#ifndef RELOCK_SIM_ARCH_H
#define RELOCK_SIM_ARCH_H

#include "libc.h"

#define relock_pause native_pause
#define relock_pauses native_pauses
#define relock_wait_turns native_wait_turns
#define relock_ticks native_ticks
#define relock_ticks_early native_ticks_early
#define relock_ticks_per_millisecond native_ticks_per_millisecond
#define relock_processor_known native_processor_known
#define relock_processor_here native_processor_here
#include "../base/arch.h"
#undef relock_pause
#undef relock_pauses
#undef relock_wait_turns
#undef relock_ticks
#undef relock_ticks_early
#undef relock_ticks_per_millisecond
#undef relock_processor_known
#undef relock_processor_here

uint32_t sim_pauses(uint32_t most);
void sim_wait_turns(uint32_t turns);
uint64_t sim_clock(void);
uint64_t sim_cycles_per_millisecond(void);
uint32_t sim_processor_here(void);

static inline uint32_t relock_pauses(uint32_t most) { return sim_pauses(most); }
static inline void relock_pause(void) { sim_pauses(1); }
static inline void relock_wait_turns(uint32_t turns) { sim_wait_turns(turns); }
static inline uint64_t relock_ticks(void) { return sim_clock(); }
static inline uint64_t relock_ticks_early(void) { return sim_clock(); }
static inline uint64_t relock_ticks_per_millisecond(void) { return sim_cycles_per_millisecond(); }
static inline const uint32_t *relock_processor_known(uintptr_t thread_pointer) {
  (void)thread_pointer;
  return NULL;
}
static inline uint32_t relock_processor_here(const uint32_t *known) {
  (void)known;
  return sim_processor_here();
}

#endif
