/* SPDX-License-Identifier: MIT
 *
 * Lock classes: the list of them, and the choice of each one's algorithm.
 */
#ifndef RELOCK_BASE_CLASS_H
#define RELOCK_BASE_CLASS_H

#include "../locks/algorithm.h"
#include "atomic.h"

#include <relock/relock.h>

/* The class of mutexes that name none. */
extern relock_class_t relock_default_class RELOCK_HIDDEN;

/* Registers the class if it is not. */
void relock_class_resolve(relock_class_t *lock_class);

/* Gives a class of rcl to another server, counted from 0; without effect on other classes. For a
 * caller that has RELOCK_GUARD_CLASSES, since the class could vanish. */
void relock_class_give_server(relock_class_t *lock_class, uint32_t server);

/* The first registered class, for a caller that has RELOCK_GUARD_CLASSES; the rest follow
 * relock_next. */
relock_class_t *relock_classes_first(void);

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

/* The mutex's class, registered. */
static inline relock_class_t *relock_resolved_class_of(const relock_mutex_t *mutex) {
  relock_class_t *lock_class = relock_class_of(mutex);
  /* Acquire: pairs with the release in relock_class_resolve(). */
  if (RELOCK_UNLIKELY(!relock_load_acquire(&lock_class->relock_ops)))
    relock_class_resolve(lock_class);
  return lock_class;
}

#endif
