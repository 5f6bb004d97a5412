/* SPDX-License-Identifier: MIT
 *
 * Where a mutex comes from: the module it lies in, or the backtrace that created it.
 */
#ifndef RELOCK_PROFILER_SITE_H
#define RELOCK_PROFILER_SITE_H

#include "layout.h"

#include <stdbool.h>

/* Return addresses of the callers, innermost first, without the profiler's own; and from that one
 * on, which is not 0: none if it is not among them. */
uint32_t site_backtrace(uint64_t from, uint64_t frames[RELOCK_FRAMES]);

/* Records modules loaded since the last call. Without the record lock. */
void site_refresh_modules(void);
/* With the record lock. */
bool site_is_static(uint64_t address);

#endif
