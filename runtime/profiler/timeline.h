/* SPDX-License-Identifier: MIT
 *
 * The waits of this process one by one: who waited for what, when, and for how long.
 */
#ifndef RELOCK_PROFILER_TIMELINE_H
#define RELOCK_PROFILER_TIMELINE_H

#include "thread.h"

void timeline_add(const struct thread *thread, uint32_t group, uint64_t start, uint64_t wait);

#endif
