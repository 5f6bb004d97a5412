/* SPDX-License-Identifier: MIT
 *
 * Switching the thread pointer.
 *
 * Invariant: relock_run_as() returns with the thread pointer it was entered with. Since callers
 * see an unchanged register before and after, no compiler assumption about thread-local addresses
 * breaks in them; inside, the section is a function of its own, called through a pointer, that
 * starts and ends under one identity. The function below must not be inlined into code that uses
 * thread-local variables, and uses none itself (the stack protector's canary is the same in all
 * threads).
 */
#include "identity.h"

#include "atomic.h"

#include <stddef.h>

/* Present when any part of the program is built with that sanitizer. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));

/* Present when the program is compiled with -fsplit-stack: every function compares the stack
 * pointer with a limit that hangs off the thread pointer. */
extern void __morestack(void) __attribute__((weak));

/* Restartable sequences: the kernel knows the area of the thread that runs, code in a section would
 * announce its sequence in the client's, and a preemption in it would go unnoticed. The C library
 * registers the areas (2.35 on) and has no sequences itself; allocators with caches per processor
 * do. Present with those that are known by name: librseq, tcmalloc. */
extern void rseq_register_current_thread(void) __attribute__((weak));
extern void TCMallocInternalMalloc(void) __attribute__((weak));
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Any other user gives itself away by the descriptor that its last sequence in this thread has left
 * in the area: struct rseq of linux/rseq.h, field rseq_cs. The kernel clears it now and then. One
 * that describes itself is no code: the profiler's mark, see profiler/processor.h. */
static bool thread_has_sequence(void) {
  enum { OFFSET_OF_RSEQ_CS = 8, START_OF_SEQUENCE = 1 };
  if (!&__rseq_size || __rseq_size == 0)
    return false;
  const char *area = (const char *)relock_thread_pointer() + __rseq_offset;
  const uint64_t last =
      relock_load_relaxed((const uint64_t *)(const void *)(area + OFFSET_OF_RSEQ_CS));
  return last && ((const uint64_t *)(uintptr_t)last)[START_OF_SEQUENCE] != last;
}

enum { SWITCH_UNKNOWN, SWITCH_WORKS, SWITCH_FORBIDDEN };
static uint32_t switch_state;

static bool program_forbids_switch(void) {
  bool sanitized = __asan_init || __tsan_init || __msan_init || __hwasan_init;
  return sanitized || __morestack || rseq_register_current_thread || TCMallocInternalMalloc;
}

bool relock_identity_switchable(void) {
  uint32_t state = relock_load_relaxed(&switch_state);
  if (RELOCK_UNLIKELY(state == SWITCH_UNKNOWN)) {
    state = relock_may_set_thread_pointer() && !program_forbids_switch() ? SWITCH_WORKS
                                                                         : SWITCH_FORBIDDEN;
    relock_store_relaxed(&switch_state, state);
  }
  if (RELOCK_UNLIKELY(state == SWITCH_WORKS && thread_has_sequence())) {
    state = SWITCH_FORBIDDEN; /* for good */
    relock_store_relaxed(&switch_state, state);
  }
  return state == SWITCH_WORKS;
}

__attribute__((noinline)) int relock_run_as(uintptr_t thread_pointer, relock_section_t section,
                                            void *context) {
  uintptr_t own = relock_thread_pointer();
  if (thread_pointer == 0 || thread_pointer == own)
    return section(context);
  relock_set_thread_pointer(thread_pointer);
  int result = section(context);
  relock_set_thread_pointer(own);
  return result;
}
