/* SPDX-License-Identifier: MIT
 *
 * A processor that somebody else makes up, in the place of base/arch.h: included first.
 */
#ifndef RELOCK_BASE_ARCH_H
#define RELOCK_BASE_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void relock_pause(void);
uint32_t relock_pauses(uint32_t most);
void relock_wait_turns(uint32_t turns);
uint64_t relock_ticks(void);
uint64_t relock_ticks_early(void);
uint64_t relock_ticks_per_millisecond(void);
const uint32_t *relock_processor_known(uintptr_t thread_pointer);
uint32_t relock_processor_here(const uint32_t *known);
uintptr_t relock_frame(void);
uintptr_t relock_address(const void *object);
uintptr_t relock_thread_pointer(void);
void relock_set_thread_pointer(uintptr_t pointer);
bool relock_may_set_thread_pointer(void);
uintptr_t relock_ask_valgrind(const volatile uintptr_t message[6], uintptr_t otherwise);

#endif
