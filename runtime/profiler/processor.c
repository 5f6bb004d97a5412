/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "processor.h"

#include <stddef.h>

struct processor_mark {
  uint32_t version, flags;
  uint64_t start, length, abort;
} __attribute__((aligned(32)));

#if __has_include(<sys/rseq.h>)
static const uint32_t signature[] = {RSEQ_SIG, 0}; /* which the system looks for before `abort` */
#define ABORT ((uintptr_t)&signature[1])
#else
#define ABORT 0
#endif
const struct processor_mark processor_mark = {0, 0, (uintptr_t)&processor_mark, 1, ABORT};

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
