/* SPDX-License-Identifier: MIT
 *
 * The processor: what the sources need of it beside atomic operations (atomic.h) and the system
 * (os.h). There is no fourth such place. A simulated machine brings a header of its own with the
 * same guard, included first; the sources stay as they are.
 *
 * What C and POSIX hang off the thread pointer needs no place here: errno, thread-local variables,
 * cancellation. It follows whoever gives each of its threads a pointer of its own.
 */
#ifndef RELOCK_BASE_ARCH_H
#define RELOCK_BASE_ARCH_H

#include "atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus /* LLVM has other names for what this defines */
#include <sys/auxv.h>
#endif
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "relock supports x86-64 and AArch64"
#endif

/* --- spinning -------------------------------------------------------------------------------- */

/* Tells the processor that this is a spinning loop. */
static inline void relock_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ __volatile__("isb");
#endif
}

/* The same in a loop that spins up to `most` times more, and returns how often: on a simulated
 * machine, where nothing that the loop looks at will change for a while, several times at once. */
static inline uint32_t relock_pauses(uint32_t most) {
  (void)most;
  relock_pause();
  return 1;
}

/* Turns of an empty loop, for waits that are shorter than a few pauses. */
static inline void relock_wait_turns(uint32_t turns) {
  for (; turns > 0; turns--)
    relock_keep_order();
}

/* --- the cycle counter ----------------------------------------------------------------------- */

static inline uint64_t relock_ticks(void) {
#if defined(__x86_64__)
  uint32_t low, high, processor;
  __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
  return (uint64_t)high << 32 | low;
#else
  uint64_t ticks;
  __asm__ __volatile__("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
#endif
}

/* May be read some instructions early: for where the order does not matter. */
static inline uint64_t relock_ticks_early(void) {
#if defined(__x86_64__)
  uint32_t low, high;
  __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return (uint64_t)high << 32 | low;
#else
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
  return ticks;
#endif
}

/* Near enough. */
static inline uint64_t relock_ticks_per_millisecond(void) {
#if defined(__x86_64__)
  return 1 << 21;
#else
  uint64_t frequency;
  __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency / 1000;
#endif
}

/* --- which processor ------------------------------------------------------------------------- */

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

/* --- stack and addresses --------------------------------------------------------------------- */

/* Where the calling function's frame is on the stack, which grows towards lower addresses. */
#define relock_frame() ((uintptr_t)__builtin_frame_address(0))

/* A number for hashes of an object: its address, which the system chooses anew for each process. */
static inline uintptr_t relock_address(const void *object) { return (uintptr_t)object; }

/* --- the thread pointer ---------------------------------------------------------------------- */

/* Names the current thread; never 0. Volatile so that it is read anew on either side of a
 * switch. */
static inline uintptr_t relock_thread_pointer(void) {
  uintptr_t pointer;
#if defined(__x86_64__)
  __asm__ __volatile__("mov %%fs:0, %0" : "=r"(pointer)); /* the ABI keeps it at its own address */
#else
  __asm__ __volatile__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

/* From here on the caller is another thread, as far as C and POSIX know; only where it may be. */
static inline void relock_set_thread_pointer(uintptr_t pointer) {
#if defined(__x86_64__)
  __asm__ __volatile__("wrfsbase %0" : : "r"(pointer) : "memory");
#else
  __asm__ __volatile__("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
#endif
}

#ifndef __cplusplus
static inline bool relock_may_set_thread_pointer(void) {
#if defined(__x86_64__)
  enum { FSGSBASE = 1 << 1 }; /* of AT_HWCAP2, Documentation/arch/x86/x86_64/fsgs.rst */
  return getauxval(AT_HWCAP2) & FSGSBASE;
#else
  return true;
#endif
}
#endif

/* --- Valgrind -------------------------------------------------------------------------------- */

/* A request to Valgrind, if it runs the program (valgrind.h): does nothing on a processor. Returns
 * its answer, or `otherwise`. */
static inline uintptr_t relock_ask_valgrind(const volatile uintptr_t message[6],
                                            uintptr_t otherwise) {
#if defined(__x86_64__)
  uintptr_t answer = otherwise;
  __asm__ __volatile__("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
                       "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                       "xchgq %%rbx, %%rbx"
                       : "+d"(answer)
                       : "a"(message)
                       : "cc", "memory");
#else
  register uintptr_t answer __asm__("x3") = otherwise;
  register const volatile uintptr_t *at __asm__("x4") = message;
  __asm__ __volatile__("ror x12, x12, #3; ror x12, x12, #13\n\t"
                       "ror x12, x12, #51; ror x12, x12, #61\n\t"
                       "orr x10, x10, x10"
                       : "+r"(answer)
                       : "r"(at)
                       : "cc", "memory");
#endif
  return answer;
}

#endif
