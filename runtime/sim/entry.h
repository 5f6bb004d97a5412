/* SPDX-License-Identifier: MIT
 *
 * What code that was built for a simulated machine calls; beside this there are the entry points of
 * ThreadSanitizer and those that arch.h declares.
 */
#ifndef RELOCK_SIM_ENTRY_H
#define RELOCK_SIM_ENTRY_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sim_entry_start(const struct sim_machine *machine);

/* What the C library does with memory in the place of instrumented code. */
void sim_access(const void *address, size_t size, bool write);
uint32_t sim_owner_decrement(uint32_t *word);
/* A fence, for which compilers have no call: until all stores are done. */
void sim_fence(void);
uint64_t sim_clock(void); /* of the current thread, in cycles */

#endif
