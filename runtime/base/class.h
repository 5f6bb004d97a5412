/* SPDX-License-Identifier: MIT
 *
 * Lock classes: the list of them. Who chooses their algorithms: mutex/choice.h.
 */
#ifndef RELOCK_BASE_CLASS_H
#define RELOCK_BASE_CLASS_H

#include "atomic.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* The class of mutexes that name none. */
extern relock_class_t relock_default_class RELOCK_HIDDEN;

/* The first registered class, for a caller that has RELOCK_GUARD_CLASSES; the rest follow
 * relock_next. */
relock_class_t *relock_classes_first(void);

/* Puts a class there, with the index of its counters; by a caller that has RELOCK_GUARD_CLASSES. */
void relock_class_enlist(relock_class_t *lock_class);

/* Bits of relock_flags. */
enum {
  RELOCK_CLASS_ALWAYS_DELEGATES = 1, /* sections do not try the word first */
  RELOCK_CLASS_REMEMBERED = 2,       /* the copy of a class whose library was closed */
  RELOCK_CLASS_MOVE = 4,             /* from here on it counts moves */
};

static inline bool relock_class_tries_first(const relock_class_t *lock_class) {
  return !(relock_load_relaxed(&lock_class->relock_flags) & RELOCK_CLASS_ALWAYS_DELEGATES);
}

static inline relock_class_t *relock_class_of(const relock_mutex_t *mutex) {
  relock_class_t *lock_class = mutex->relock_private.lock_class;
  return RELOCK_LIKELY(lock_class != NULL) ? lock_class : &relock_default_class;
}

#endif
