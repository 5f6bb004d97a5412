/* SPDX-License-Identifier: MIT
 *
 * The choice of each lock class's algorithm.
 */
#ifndef RELOCK_MUTEX_CHOICE_H
#define RELOCK_MUTEX_CHOICE_H

#include "../base/class.h"

/* Registers the class if it is not. */
void relock_class_resolve(relock_class_t *lock_class);

/* The mutex's class, registered. */
static inline relock_class_t *relock_resolved_class_of(const relock_mutex_t *mutex) {
  relock_class_t *lock_class = relock_class_of(mutex);
  /* Acquire: pairs with the release in relock_class_resolve(). */
  if (RELOCK_UNLIKELY(!relock_load_acquire(&lock_class->relock_ops)))
    relock_class_resolve(lock_class);
  return lock_class;
}

#endif
