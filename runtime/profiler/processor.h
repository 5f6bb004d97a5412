/* SPDX-License-Identifier: MIT
 *
 * Whether a thread has lost its processor, and what statistics/processor.h knows of processors.
 */
#ifndef RELOCK_PROFILER_PROCESSOR_H
#define RELOCK_PROFILER_PROCESSOR_H

#include "../statistics/processor.h"

#include <stdbool.h>

/* What the system keeps in the memory of each thread (struct rseq of linux/rseq.h). */
struct processor_area {
  uint32_t started_on;
  int32_t processor; /* negative: not known */
  uint64_t mark;
};

/* Where the system knows restartable sequences it takes the mark away when the thread loses its
 * processor, or gets a signal: the mark is a sequence that no thread is ever in (linux/rseq.h,
 * `rseq_cs`), since it is what it describes: so librelock knows it from others. Elsewhere it stays
 * for ever. A program that has sequences of its own puts them in its place. Linux looks at the mark
 * since 6.19 only where it has interrupted the thread's own code, since no system call is in a
 * sequence: there the mark outlives those that sleep. */
struct processor_mark {
  uint32_t version, flags;
  uint64_t start, length, abort;
  /* The system looks for the one before the other, each time that it takes the mark away: here it
   * is in the same line. */
  uint32_t signature, aborted;
} __attribute__((aligned(64)));
extern const struct processor_mark processor_mark __attribute__((visibility("hidden")));
/* Whether the mark vanishes each time that a thread loses its processor, so that one which is there
 * says that the thread has had it since the mark was put there. */
extern bool processor_tells __attribute__((visibility("hidden")));
/* Finds that out, once: by sleeping for a moment. */
void processor_start(void);

/* Of the calling thread. */
struct processor_area *processor_area(void);
#define PROCESSOR_MARK ((uint64_t)(uintptr_t)&processor_mark)

static inline uint32_t processor_here(const struct processor_area *area) {
  const int32_t here = __atomic_load_n(&area->processor, __ATOMIC_RELAXED);
  return __builtin_expect(here >= 0, 1) ? (uint32_t)here : relock_processor_here(NULL);
}

#endif
