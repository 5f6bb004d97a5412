/* SPDX-License-Identifier: MIT
 *
 * Two interfaces, both declared here because the library depends on libc only:
 *
 *  - ThreadSanitizer's functions are in a program that was built with it, by gcc or Clang, and are
 *    found there by name (compiler-rt's sanitizer/tsan_interface.h). A library that was built with
 *    it, too, shows its atomic operations and needs none of them.
 *  - Valgrind knows a request by a sequence of instructions that does nothing, and is nowhere else
 *    (valgrind.h). The requests are those of helgrind.h and drd.h, whose numbers never change, as
 *    programs contain them. Both tools have the same ones for a lock of a program's own, one for
 *    readers and writers, and for an order of its own.
 */
#include "annotate.h"

#include "arch.h"
#include "atomic.h"

#include <stdint.h>

/* --- ThreadSanitizer ------------------------------------------------------------------------- */

enum { TRIES = 1 << 4, TRIED_IN_VAIN = 1 << 5 };
extern void __tsan_mutex_pre_lock(void *mutex, unsigned flags) __attribute__((weak));
extern void __tsan_mutex_post_lock(void *mutex, unsigned flags, int depth) __attribute__((weak));
extern int __tsan_mutex_pre_unlock(void *mutex, unsigned flags) __attribute__((weak));
extern void __tsan_mutex_post_unlock(void *mutex, unsigned flags) __attribute__((weak));
extern void __tsan_mutex_destroy(void *mutex, unsigned flags) __attribute__((weak));
extern void __tsan_release(void *name) __attribute__((weak));
extern void __tsan_acquire(void *name) __attribute__((weak));

static bool is_in_tsan(void) { return !RELOCK_UNDER_TSAN && __tsan_mutex_pre_lock; }

/* --- Valgrind -------------------------------------------------------------------------------- */

#define TOOL(a, b) ((uintptr_t)(a) << 24 | (uintptr_t)(b) << 16)
#define HELGRIND TOOL('H', 'G')
#define DRD TOOL('D', 'R')
enum {
  CLEAN_MEMORY = 0,    /* of both tools: address, size */
  LOCK_ACQUIRED = 273, /* address, for writing */
  LOCK_RELEASED = 274,
  COMES_BEFORE = 289, /* name */
  COMES_AFTER = 290,
  HELGRIND_UNTRACKED = 295, /* address, size */
  HELGRIND_GET_BITS = 302,  /* address, where to, size */
  DRD_THREAD = 0,           /* its number, from 1 on */
  DRD_SUPPRESSED = 2,       /* address, size */
};

/* Gives `otherwise` where nobody answers. */
static uintptr_t request(uintptr_t number, uintptr_t first, uintptr_t second, uintptr_t third,
                         uintptr_t otherwise) {
  const volatile uintptr_t message[6] = {number, first, second, third, 0, 0};
  return relock_ask_valgrind(message, otherwise);
}

static void tell(uintptr_t number, const void *object, uintptr_t value) {
  request(number, (uintptr_t)object, value, 0, 0);
}

/* --- which one ------------------------------------------------------------------------------- */

enum detector { UNKNOWN, NOBODY, IN_TSAN, IN_HELGRIND, IN_DRD };
static uint32_t detector;

static enum detector find_detector(void) {
  unsigned char byte = 0, bits;
  if (is_in_tsan())
    return IN_TSAN;
  if (request(DRD + DRD_THREAD, 0, 0, 0, 0))
    return IN_DRD;
  /* How many of the bytes it knows. */
  if (request(HELGRIND + HELGRIND_GET_BITS, (uintptr_t)&byte, (uintptr_t)&bits, 1, 0))
    return IN_HELGRIND;
  return NOBODY;
}

static enum detector get_detector(void) {
  uint32_t known = relock_load_relaxed(&detector);
  if (known == UNKNOWN) {
    known = find_detector();
    relock_store_relaxed(&detector, known);
  }
  return (enum detector)known;
}

#if defined(RELOCK_EXPLORE) || defined(RELOCK_SIMULATE)
bool relock_is_watched(void) { return false; }
#else
bool relock_is_watched(void) { return get_detector() != NOBODY; }
#endif

/* --- what they are told ---------------------------------------------------------------------- */

void relock_annotate_own(const void *object, size_t size) {
  if (get_detector() == IN_HELGRIND)
    tell(HELGRIND + HELGRIND_UNTRACKED, object, size);
  else if (get_detector() == IN_DRD)
    tell(DRD + DRD_SUPPRESSED, object, size);
}

void relock_annotate_end(const void *object, size_t size) {
  if (get_detector() == IN_TSAN)
    __tsan_mutex_destroy((void *)(uintptr_t)object, 0);
  else
    tell(HELGRIND + CLEAN_MEMORY, object, size);
}

void relock_annotate_locking(const void *mutex, bool tries) {
  if (get_detector() == IN_TSAN)
    __tsan_mutex_pre_lock((void *)(uintptr_t)mutex, tries ? TRIES : 0);
}

void relock_annotate_locked(const void *mutex, bool tries) {
  if (get_detector() == IN_TSAN)
    __tsan_mutex_post_lock((void *)(uintptr_t)mutex, tries ? TRIES : 0, 1);
  else
    tell(HELGRIND + LOCK_ACQUIRED, mutex, true);
}

void relock_annotate_not_locked(const void *mutex) {
  if (get_detector() == IN_TSAN)
    __tsan_mutex_post_lock((void *)(uintptr_t)mutex, TRIES | TRIED_IN_VAIN, 1);
}

void relock_annotate_unlocking(const void *mutex) {
  if (get_detector() == IN_TSAN)
    (void)__tsan_mutex_pre_unlock((void *)(uintptr_t)mutex, 0);
  else
    tell(HELGRIND + LOCK_RELEASED, mutex, true);
}

void relock_annotate_unlocked(const void *mutex) {
  if (get_detector() == IN_TSAN)
    __tsan_mutex_post_unlock((void *)(uintptr_t)mutex, 0);
}

void relock_annotate_before(const void *name) {
  if (get_detector() == IN_TSAN)
    __tsan_release((void *)(uintptr_t)name);
  else
    tell(HELGRIND + COMES_BEFORE, name, 0);
}

void relock_annotate_after(const void *name) {
  if (get_detector() == IN_TSAN)
    __tsan_acquire((void *)(uintptr_t)name);
  else
    tell(HELGRIND + COMES_AFTER, name, 0);
}
