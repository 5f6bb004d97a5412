/* SPDX-License-Identifier: MIT
 *
 * How long threads waited for locks, over the time of the whole run. Each thread counts for itself.
 */
#ifndef RELOCK_PROFILER_INTERVALS_H
#define RELOCK_PROFILER_INTERVALS_H

#include "thread.h"

void intervals_add(struct thread *thread, uint32_t group, uint64_t start, uint64_t wait);

#endif
