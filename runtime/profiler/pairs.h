/* SPDX-License-Identifier: MIT
 *
 * A thread's own records of pairs: which lock is taken inside which, whom it waits for. Finding
 * one touches no line of another thread; making one takes the record lock.
 */
#ifndef RELOCK_PROFILER_PAIRS_H
#define RELOCK_PROFILER_PAIRS_H

#include "thread.h"

/* The record of a key, of that kind and size and empty when it is new. Null when there is no room
 * for it. `left`: how many more the process may make; null if only memory limits them. */
void *pairs_record(struct pairs *pairs, uint64_t key, enum relock_record_kind kind, size_t size,
                   uint32_t *left);

#endif
