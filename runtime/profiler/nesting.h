/* SPDX-License-Identifier: MIT
 *
 * Which locks are acquired while others are held. Each thread counts for itself, so that counting,
 * which happens within the hold, touches no line of another thread.
 */
#ifndef RELOCK_PROFILER_NESTING_H
#define RELOCK_PROFILER_NESTING_H

#include "thread.h"

/* The thread acquires `object`, an rwlock for reading or anything else, and holds others; `tried`:
 * it would not have waited. */
void nesting_count(struct thread *thread, const struct relock_object *object, bool reading,
                   bool tried);

#endif
