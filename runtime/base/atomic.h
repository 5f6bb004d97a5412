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
#include <stdint.h>

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
#define relock_add_acquire(object, value) __atomic_fetch_add(object, value, __ATOMIC_ACQUIRE)
#define relock_add_acq_rel(object, value) __atomic_fetch_add(object, value, __ATOMIC_ACQ_REL)
#define relock_add_seq_cst(object, value) __atomic_fetch_add(object, value, __ATOMIC_SEQ_CST)
#define relock_and_relaxed(object, value) __atomic_fetch_and(object, value, __ATOMIC_RELAXED)
#define relock_and_seq_cst(object, value) __atomic_fetch_and(object, value, __ATOMIC_SEQ_CST)
#define relock_or_relaxed(object, value) __atomic_fetch_or(object, value, __ATOMIC_RELAXED)
#define relock_or_release(object, value) __atomic_fetch_or(object, value, __ATOMIC_RELEASE)
#define relock_or_seq_cst(object, value) __atomic_fetch_or(object, value, __ATOMIC_SEQ_CST)

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
#define relock_cas_seq_cst(object, expected, value)                                                \
  RELOCK_CAS(object, expected, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

/* ThreadSanitizer sees neither inline assembly nor membarrier(2). */
#if defined(__SANITIZE_THREAD__)
#define RELOCK_UNDER_TSAN 1
#elif defined(__has_feature)
#define RELOCK_UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define RELOCK_UNDER_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define RELOCK_UNDER_ASAN 1
#elif defined(__has_feature)
#define RELOCK_UNDER_ASAN __has_feature(address_sanitizer)
#else
#define RELOCK_UNDER_ASAN 0
#endif

/* Keeps the compiler from moving loads from behind it before stores in front of it. The processor
 * may still, so it is for a thread whose partner makes all threads pass a barrier
 * (relock_os->barrier). */
#define relock_keep_order() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* For objects that the library shares with itself only. */
#define RELOCK_HIDDEN __attribute__((visibility("hidden")))

/* Whether the process has one thread: what no other can see need not be atomic. A hint of the C
 * library, which uses it for the same purpose. */
#if __has_include(<sys/single_threaded.h>) && !defined(RELOCK_EXPLORE) && !defined(RELOCK_SIMULATE)
#include <sys/single_threaded.h>
static inline bool relock_is_alone(void) { return __libc_single_threaded; }
#else
static inline bool relock_is_alone(void) { return false; }
#endif

/* Adds to a counter that only the caller's thread writes and others may read. */
#define relock_count_own(object, value)                                                            \
  relock_store_relaxed(object, relock_load_relaxed(object) + (value))

/* Subtracts one from a word that only the caller takes from that value to the next lower one,
 * with release order, and returns the new value. Not atomic: what another thread writes to the
 * word meanwhile may be lost, and on x86-64 that is what makes it cheap, one instruction without
 * a LOCK prefix. A thread that has written and then made all others pass a barrier
 * (relock_os->barrier) knows that no such instruction is half done any more.
 *
 * relock_owner_cas() is the same for a change from one value to any other: whether it was the
 * expected one. If not, it may write what it has found once more. */
#if defined(RELOCK_EXPLORE)
#define RELOCK_HAS_OWNER_DECREMENT 1
static inline uint32_t relock_owner_decrement(uint32_t *word) {
  uint32_t value = __atomic_load_n(word, __ATOMIC_RELAXED) - 1;
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  return value;
}
static inline bool relock_owner_cas(uint32_t *word, uint32_t expected, uint32_t value) {
  uint32_t found = __atomic_load_n(word, __ATOMIC_RELAXED);
  __atomic_store_n(word, found == expected ? value : found, __ATOMIC_RELEASE);
  return found == expected;
}
#elif defined(RELOCK_SIMULATE)
#define RELOCK_HAS_OWNER_DECREMENT 1
uint32_t sim_owner_decrement(uint32_t *word);
bool sim_owner_cas(uint32_t *word, uint32_t expected, uint32_t value);
static inline uint32_t relock_owner_decrement(uint32_t *word) { return sim_owner_decrement(word); }
static inline bool relock_owner_cas(uint32_t *word, uint32_t expected, uint32_t value) {
  return sim_owner_cas(word, expected, value);
}
#elif defined(__x86_64__) && !RELOCK_UNDER_TSAN
#define RELOCK_HAS_OWNER_DECREMENT 1
static inline uint32_t relock_owner_decrement(uint32_t *word) {
  bool zero;
  __asm__ __volatile__("decl %0" : "+m"(*word), "=@ccz"(zero) : : "memory");
  return zero ? 0 : 1;
}
static inline bool relock_owner_cas(uint32_t *word, uint32_t expected, uint32_t value) {
  bool same;
  __asm__ __volatile__("cmpxchgl %3, %1"
                       : "+a"(expected), "+m"(*word), "=@ccz"(same)
                       : "r"(value)
                       : "memory");
  return same;
}
#else /* never used: words are not HELD_FAST */
#define RELOCK_HAS_OWNER_DECREMENT 0
static inline uint32_t relock_owner_decrement(uint32_t *word) {
  return __atomic_sub_fetch(word, 1, __ATOMIC_RELEASE);
}
static inline bool relock_owner_cas(uint32_t *word, uint32_t expected, uint32_t value) {
  return relock_cas_release(word, expected, value);
}
#endif

#define RELOCK_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define RELOCK_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define RELOCK_CACHE_LINE 64

#endif
