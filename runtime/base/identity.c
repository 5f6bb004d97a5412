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

#include <sys/auxv.h>

/* Present when any part of the program is built with that sanitizer. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));

enum { SWITCH_UNKNOWN, SWITCH_WORKS, SWITCH_FORBIDDEN };
static uint32_t switch_state;

#if defined(__x86_64__)
#define HWCAP2_FSGSBASE (1ul << 1) /* Documentation/arch/x86/x86_64/fsgs.rst */
static bool machine_can_switch(void) { return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE; }
static inline void set_thread_pointer(uintptr_t pointer) {
  __asm__ __volatile__("wrfsbase %0" : : "r"(pointer) : "memory");
}
#else
static bool machine_can_switch(void) { return true; }
static inline void set_thread_pointer(uintptr_t pointer) {
  __asm__ __volatile__("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
}
#endif

bool relock_identity_switchable(void) {
  uint32_t state = relock_load_relaxed(&switch_state);
  if (RELOCK_UNLIKELY(state == SWITCH_UNKNOWN)) {
    bool sanitized = __asan_init || __tsan_init || __msan_init || __hwasan_init;
    state = machine_can_switch() && !sanitized ? SWITCH_WORKS : SWITCH_FORBIDDEN;
    relock_store_relaxed(&switch_state, state);
  }
  return state == SWITCH_WORKS;
}

__attribute__((noinline)) int relock_run_as(uintptr_t thread_pointer, relock_section_t section,
                                            void *context) {
  uintptr_t own = relock_thread_pointer();
  if (thread_pointer == 0 || thread_pointer == own)
    return section(context);
  set_thread_pointer(thread_pointer);
  int result = section(context);
  set_thread_pointer(own);
  return result;
}
