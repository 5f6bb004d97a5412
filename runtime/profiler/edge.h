/* SPDX-License-Identifier: MIT
 *
 * Whom a thread waits for: who held the lock when its wait began. Each thread counts for itself.
 */
#ifndef RELOCK_PROFILER_EDGE_H
#define RELOCK_PROFILER_EDGE_H

#include "thread.h"

/* Who holds a lock that could not be taken. The owner of a mutex or spinlock may not have said so
 * yet, or no longer: then it is the one before. An rwlock that no writer holds has readers, which
 * are not known: 0. */
uint32_t edge_holder(const struct relock_object *object);

/* The thread has waited so long for a lock that `holder` held, or, where that is no other thread,
 * `releaser`, who was the last before it; 0 for each: unknown. */
void edge_count(struct thread *thread, uint32_t group, uint32_t holder, uint32_t releaser,
                uint64_t wait);

#endif
