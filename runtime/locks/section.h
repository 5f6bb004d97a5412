/* SPDX-License-Identifier: MIT
 *
 * Running sections by the owner of the word. `executing` tells relock_cond_wait() that its caller
 * is a section; it is written only by the word's owner.
 */
#ifndef RELOCK_LOCKS_SECTION_H
#define RELOCK_LOCKS_SECTION_H

#include "../base/atomic.h"
#include "../base/thread.h"
#include "../base/word.h"

#include <relock/relock.h>

/* Parts of a mutex's `kind`: its type, and that the statistics know it. */
enum { RELOCK_KIND_TYPE = 3, RELOCK_KIND_SEEN = 4 };

/* The owner of the word runs a section of its own and releases the word. */
static inline int relock_run_and_release(relock_mutex_t *mutex, relock_section_t section,
                                         void *context) {
  relock_store_relaxed(&mutex->relock_private.executing, 1);
  int result = section(context);
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_word_release(&mutex->relock_private.word);
  return result;
}

/* Counts sections that this thread has just run for others. */
static inline void relock_count_batch(struct relock_thread *self, const relock_class_t *lock_class,
                                      unsigned sections) {
  relock_stats_count(self, lock_class, RELOCK_COUNT_BATCHES, 1);
  relock_stats_count(self, lock_class, RELOCK_COUNT_DELEGATED, sections);
}

#endif
