/* SPDX-License-Identifier: MIT
 *
 * Whether a thread has lost its processor, and what base/processor.h knows of processors.
 */
#ifndef RELOCK_PROFILER_PROCESSOR_H
#define RELOCK_PROFILER_PROCESSOR_H

#include "../base/processor.h"

/* Of the calling thread. */
static inline const uint32_t *processor_known(void) {
  return relock_processor_known((uintptr_t)__builtin_thread_pointer());
}

/* Where the system knows restartable sequences it takes the mark away when the thread loses its
 * processor, or gets a signal: the mark is a sequence that no thread is ever in (linux/rseq.h,
 * `rseq_cs`), since it is what it describes: so librelock knows it from others. Elsewhere it stays
 * for ever. A program that has sequences of its own puts them in its place. */
extern const struct processor_mark processor_mark __attribute__((visibility("hidden")));
uint64_t *processor_marked(void);
#define PROCESSOR_MARK ((uint64_t)(uintptr_t)&processor_mark)

#endif
