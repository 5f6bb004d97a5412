/* SPDX-License-Identifier: MIT
 *
 * On which processor a thread runs, and how far that is from another one. Which of them share a
 * core, a cache or a node is read from a file that `relock profile` has written.
 */
#ifndef RELOCK_PROFILER_PROCESSOR_H
#define RELOCK_PROFILER_PROCESSOR_H

#include "layout.h"

#if defined(__x86_64__)
#define RELOCK_PROCESSOR_MASK 0xfffu /* Linux has the node in the bits above */
#elif __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

/* Reads RELOCK_PROCESSORS_FILE of a folder; without it all distances are unknown. */
void processors_load(const char *folder);
enum relock_distance processor_distance(uint32_t from, uint32_t to);

/* The time, and the processor, by which the clock comes with it or which a system that knows
 * restartable sequences keeps in the thread's memory: never by a call. */
static inline uint64_t relock_ticks_on(uint32_t *processor) {
#if defined(__x86_64__)
  uint32_t low, high, node_and_processor;
  __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(node_and_processor) : : "memory");
  *processor = node_and_processor & RELOCK_PROCESSOR_MASK;
  return (uint64_t)high << 32 | low;
#elif __has_include(<sys/rseq.h>)
  const struct rseq *here =
      (const struct rseq *)((const char *)__builtin_thread_pointer() + __rseq_offset);
  *processor = __rseq_size ? __atomic_load_n(&here->cpu_id, __ATOMIC_RELAXED) : UINT32_MAX;
  return relock_ticks();
#else
  *processor = UINT32_MAX;
  return relock_ticks();
#endif
}

#endif
