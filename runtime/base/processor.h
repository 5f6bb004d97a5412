/* SPDX-License-Identifier: MIT
 *
 * On which processor a thread runs, and how far that is from another one. Which of them share a
 * core, a cache or a node is read from a file that `relock profile` writes. The profiler and the
 * library each have their own table.
 */
#ifndef RELOCK_BASE_PROCESSOR_H
#define RELOCK_BASE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

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

/* A system that knows restartable sequences keeps the processor in the memory of each thread; null:
 * this one does not. By the thread's pointer, whoever asks. */
static inline const uint32_t *relock_processor_known(uintptr_t thread_pointer) {
#if __has_include(<sys/rseq.h>)
  const uintptr_t area = thread_pointer + (uintptr_t)__rseq_offset;
  return __rseq_size ? &((const struct rseq *)area)->cpu_id : NULL;
#else
  (void)thread_pointer;
  return NULL;
#endif
}

/* `known`: of the calling thread. Otherwise the processor comes with the clock, or is not known:
 * this is no place for calls. */
static inline uint32_t relock_processor_here(const uint32_t *known) {
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
