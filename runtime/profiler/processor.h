/* SPDX-License-Identifier: MIT
 *
 * On which processor a thread runs, and how far that is from another one. Which of them share a
 * core, a cache or a node is read from a file that `relock profile` has written.
 */
#ifndef RELOCK_PROFILER_PROCESSOR_H
#define RELOCK_PROFILER_PROCESSOR_H

#include "layout.h"

#include <stddef.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

/* Reads RELOCK_PROCESSORS_FILE of a folder; without it all distances are unknown. */
void processors_load(const char *folder);
enum relock_distance processor_distance(uint32_t from, uint32_t to);

/* A system that knows restartable sequences keeps the processor in the memory of each thread; null:
 * this one does not. */
static inline const uint32_t *processor_known(void) {
#if __has_include(<sys/rseq.h>)
  const char *here = (const char *)__builtin_thread_pointer() + __rseq_offset;
  return __rseq_size ? &((const struct rseq *)here)->cpu_id : NULL;
#else
  return NULL;
#endif
}

/* There such a system takes the mark away when the thread loses its processor, or gets a signal:
 * the mark is a sequence that no thread is ever in (linux/rseq.h, `rseq_cs`). Elsewhere it stays
 * for ever. A program that has sequences of its own puts them in its place. */
extern const struct processor_mark processor_mark __attribute__((visibility("hidden")));
uint64_t *processor_marked(void);
#define PROCESSOR_MARK ((uint64_t)(uintptr_t)&processor_mark)

/* `known`: of the calling thread. Otherwise the processor comes with the clock, or is not known:
 * this is no place for calls. */
static inline uint32_t processor_here(const uint32_t *known) {
#if defined(__x86_64__)
  uint32_t low, high, node_and_processor;
#endif
  if (__builtin_expect(known != NULL, 1))
    return __atomic_load_n(known, __ATOMIC_RELAXED);
#if defined(__x86_64__)
  __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(node_and_processor) : : "memory");
  return node_and_processor & 0xfffu; /* Linux has the node in the bits above */
#else
  return UINT32_MAX;
#endif
}

#endif
