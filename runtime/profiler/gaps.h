/* SPDX-License-Identifier: MIT
 *
 * When the next one of many is chosen that stands for those before it: so often that there is one
 * per thread and interval, whatever the thread's rate is.
 */
#ifndef RELOCK_PROFILER_GAPS_H
#define RELOCK_PROFILER_GAPS_H

#include "thread.h"

/* A new thread: its first ones are all chosen, until it shows how many there are. */
void sample_begin_at(struct sampling *sampling, uint32_t id);
/* Returns how many the sample stands for, which is the mean of the gap that it ends, and sets when
 * the next one is due. */
uint64_t sample_gap(struct sampling *sampling, uint64_t now, uint64_t interval);

/* A countdown that is never over. */
#define SAMPLE_NEVER (UINT64_MAX / 2)

/* The next wait is a sample. */
static inline bool sample_due(struct sampling *sampling) { return --sampling->countdown == 0; }

#endif
