/* SPDX-License-Identifier: MIT
 *
 * The only names for atomic operations, with the memory order in the name. They are C11's
 * operations and orders on plain integers and pointers, in the compilers' own spelling, because
 * the public header must also be C++ and so cannot declare _Atomic members. There are no bare
 * fences: ThreadSanitizer does not understand them.
 *
 * Each use of an order other than relaxed names its partner in a comment.
 */
#ifndef RELOCK_BASE_ATOMIC_H
#define RELOCK_BASE_ATOMIC_H

#include <stdbool.h>

#define relock_load_relaxed(object) __atomic_load_n(object, __ATOMIC_RELAXED)
#define relock_load_acquire(object) __atomic_load_n(object, __ATOMIC_ACQUIRE)
#define relock_load_seq_cst(object) __atomic_load_n(object, __ATOMIC_SEQ_CST)

#define relock_store_relaxed(object, value) __atomic_store_n(object, value, __ATOMIC_RELAXED)
#define relock_store_release(object, value) __atomic_store_n(object, value, __ATOMIC_RELEASE)

#define relock_exchange_acquire(object, value) __atomic_exchange_n(object, value, __ATOMIC_ACQUIRE)
#define relock_exchange_release(object, value) __atomic_exchange_n(object, value, __ATOMIC_RELEASE)
#define relock_exchange_acq_rel(object, value) __atomic_exchange_n(object, value, __ATOMIC_ACQ_REL)
#define relock_exchange_seq_cst(object, value) __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST)

#define relock_add_relaxed(object, value) __atomic_fetch_add(object, value, __ATOMIC_RELAXED)

/* True when *object was `expected` (a value, not a pointer) and is now `value`; a failure orders
 * nothing unless the name says so. */
#define RELOCK_CAS(object, expected, value, success, failure)                                      \
  ({                                                                                               \
    __typeof__(*(object)) relock_expected = (expected);                                            \
    __atomic_compare_exchange_n(object, &relock_expected, value, false, success, failure);         \
  })
#define relock_cas_relaxed(object, expected, value)                                                \
  RELOCK_CAS(object, expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define relock_cas_acquire(object, expected, value)                                                \
  RELOCK_CAS(object, expected, value, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define relock_cas_release(object, expected, value)                                                \
  RELOCK_CAS(object, expected, value, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define relock_cas_acq_rel(object, expected, value)                                                \
  RELOCK_CAS(object, expected, value, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)

/* Tells the processor that this is a spinning loop. */
static inline void relock_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

#define RELOCK_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define RELOCK_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define RELOCK_CACHE_LINE 64

#endif
