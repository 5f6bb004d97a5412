/* SPDX-License-Identifier: MIT
 *
 * On which processor a thread runs, and how far that is from another one. Which of them share a
 * core, a cache or a node is read from a file that `relock profile` writes. The profiler and the
 * library each have their own table.
 */
#ifndef RELOCK_STATISTICS_PROCESSOR_H
#define RELOCK_STATISTICS_PROCESSOR_H

#include "../base/arch.h"

#include <stddef.h>
#include <stdint.h>

/* In the folder of the records: a struct relock_processor for each processor. */
#define RELOCK_PROCESSORS_FILE "processors"

/* Processors with the same number share it. */
struct relock_processor {
  uint16_t core, cache, node;
};

/* Where a lock comes from when a thread gets it: how near the processor on which another thread had
 * it is to the one on which it is acquired. */
enum relock_distance {
  RELOCK_SAME_THREAD, /* or nobody has held it before */
  RELOCK_SAME_CORE,
  RELOCK_SAME_CACHE, /* the last level's */
  RELOCK_SAME_NODE,
  RELOCK_OTHER_NODE,
  RELOCK_UNKNOWN_DISTANCE,
  RELOCK_DISTANCES,
};

/* Reads the file of that folder; without it all distances are unknown. The memory, of allocate(),
 * is kept. */
void relock_processors_load(const char *folder, void *(*allocate)(size_t size));
enum relock_distance relock_processor_distance(uint32_t from, uint32_t to);

#endif
