/* SPDX-License-Identifier: MIT
 *
 * Lock classes: the list of them, and the choice of each one's algorithm.
 */
#ifndef RELOCK_BASE_CLASS_H
#define RELOCK_BASE_CLASS_H

#include "atomic.h"
#include "../locks/algorithm.h"

#include <relock/relock.h>

/* The class of mutexes that name none. */
extern relock_class_t relock_default_class;

/* Registers the class if it is not, and returns its algorithm. */
const struct relock_algorithm *relock_class_resolve(relock_class_t *lock_class);

/* Guards the list of classes. */
void relock_classes_lock(void);
void relock_classes_unlock(void);

/* The first registered class, for a caller that holds the list; the rest follow relock_next. */
relock_class_t *relock_classes_first(void);

static inline relock_class_t *relock_class_of(const relock_mutex_t *mutex) {
  relock_class_t *lock_class = mutex->relock_private.lock_class;
  return RELOCK_LIKELY(lock_class != NULL) ? lock_class : &relock_default_class;
}

static inline const struct relock_algorithm *relock_algorithm_of(const relock_mutex_t *mutex) {
  relock_class_t *lock_class = relock_class_of(mutex);
  /* Acquire: pairs with the release in relock_class_resolve(). */
  const struct relock_algorithm *algorithm = relock_load_acquire(&lock_class->relock_ops);
  return RELOCK_LIKELY(algorithm != NULL) ? algorithm : relock_class_resolve(lock_class);
}

#endif
