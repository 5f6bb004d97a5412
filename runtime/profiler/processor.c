/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "processor.h"

#include <stddef.h>

#if __has_include(<sys/rseq.h>)
#define SIGNATURE RSEQ_SIG
#else
#define SIGNATURE 0
#endif
const struct processor_mark processor_mark = {.start = (uintptr_t)&processor_mark,
                                              .length = 1,
                                              .abort = (uintptr_t)&processor_mark.aborted,
                                              .signature = SIGNATURE};

struct processor_area *processor_area(void) {
  static struct processor_area nowhere = {0, -1, (uintptr_t)&processor_mark};
#if __has_include(<sys/rseq.h>)
  _Static_assert(offsetof(struct processor_area, processor) == offsetof(struct rseq, cpu_id) &&
                     offsetof(struct processor_area, mark) == offsetof(struct rseq, rseq_cs),
                 "the system's");
  if (__rseq_size)
    return (struct processor_area *)((char *)__builtin_thread_pointer() + __rseq_offset);
#endif
  return &nowhere;
}
