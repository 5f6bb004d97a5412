/* SPDX-License-Identifier: MIT
 *
 * The page that the kernel shares with the owner of a performance counter, and how a thread reads
 * its counter through it, without a system call. See linux/perf_event.h.
 */
#ifndef RELOCK_PROFILER_COUNTER_PAGE_H
#define RELOCK_PROFILER_COUNTER_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* The processor's own register, counted from 0; a parameter, because few machines have one. */
typedef uint64_t counter_register(uint32_t index);

#if defined(__x86_64__)
#define RELOCK_COUNTER_REGISTER 1
static inline uint64_t read_counter_register(uint32_t index) {
  uint32_t low, high;
  __asm__ __volatile__("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
  return (uint64_t)high << 32 | low;
}
#else
#define RELOCK_COUNTER_REGISTER 0
static inline uint64_t read_counter_register(uint32_t index) { return index; }
#endif

/* False while the counter is in no register, because others have taken its turn. */
static inline bool counter_page_read(const struct perf_event_mmap_page *page, counter_register *reg,
                                     uint64_t *value) {
  uint32_t sequence, index, width;
  int64_t raw;
  do {
    /* Pairs with the kernel, which writes the page on this processor only: a change is a context
     * switch or an interrupt of this very thread, so that the order of instructions suffices. */
    sequence = __atomic_load_n(&page->lock, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
    width = __atomic_load_n(&page->pmc_width, __ATOMIC_RELAXED);
    *value = (uint64_t)__atomic_load_n(&page->offset, __ATOMIC_RELAXED);
    if (!index || !width || width > 64 || !page->cap_user_rdpmc)
      return false;
    raw = (int64_t)(reg(index - 1) << (64 - width)) >> (64 - width); /* the register is signed */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != sequence);
  *value += (uint64_t)raw;
  return true;
}

#endif
