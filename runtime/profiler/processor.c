/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "processor.h"

#include <stddef.h>
#include <time.h>

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

bool processor_tells;

/* Longer than the system takes to let another thread run, or none. Twice, as the thread may also be
 * interrupted meanwhile, of which the system tells in any case. */
enum { SLEEPS = 2, SLEEP_NS = 50000 };

static bool sleep_is_told(void) {
  const struct timespec moment = {0, SLEEP_NS};
  uint64_t *mark = &processor_area()->mark;
  const uint64_t before = __atomic_load_n(mark, __ATOMIC_RELAXED);
  __atomic_store_n(mark, PROCESSOR_MARK, __ATOMIC_RELAXED);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
  const bool told = __atomic_load_n(mark, __ATOMIC_RELAXED) != PROCESSOR_MARK;
  __atomic_store_n(mark, before, __ATOMIC_RELAXED);
  return told;
}

void processor_start(void) {
  static bool started;
  if (started)
    return;
  started = true;
  int told = 0;
  while (told < SLEEPS && sleep_is_told())
    told++;
  processor_tells = told == SLEEPS;
}
