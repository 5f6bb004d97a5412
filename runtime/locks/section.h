/* SPDX-License-Identifier: MIT
 *
 * Running sections by the owner of the word. `executing` tells relock_cond_wait() that its caller
 * is a section; it is written only by the word's owner.
 */
#ifndef RELOCK_LOCKS_SECTION_H
#define RELOCK_LOCKS_SECTION_H

#include "../base/atomic.h"
#include "../base/request.h"
#include "../base/thread.h"
#include "../base/word.h"

#include <relock/relock.h>

/* Parts of a mutex's `kind`: its type, that the statistics know it, and that it is timed. */
enum { RELOCK_KIND_TYPE = 3, RELOCK_KIND_SEEN = 4, RELOCK_KIND_TIMED = 8 };

static inline bool relock_is_timed(const relock_mutex_t *mutex) {
  return RELOCK_UNLIKELY(relock_load_relaxed(&mutex->relock_private.kind) & RELOCK_KIND_TIMED);
}

/* A step of a resumable section, the context of relock_run_step(). The step itself is in its
 * client's frame, where only who runs it may look. */
struct relock_step_call {
  struct relock_step *step;
  relock_section_t section; /* the program's */
  const void *caller;
};
int relock_run_step(void *step_call) RELOCK_HIDDEN;

/* Values of `executing`. In a section that its own client runs instead of a server, and in one that
 * has waited on a condition variable, the caller may wait with the mutex: ALONE. */
enum { RELOCK_EXECUTING = 1, RELOCK_EXECUTING_ALONE = 2 };

/* The owner of the word runs a section of its own and releases the word. */
static inline int relock_run_owned(uint8_t executing, relock_mutex_t *mutex,
                                   relock_section_t section, void *context) {
  relock_store_relaxed(&mutex->relock_private.executing, executing);
  int result = section(context);
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_word_release(&mutex->relock_private.word);
  return result;
}
static inline int relock_run_and_release(relock_mutex_t *mutex, relock_section_t section,
                                         void *context) {
  return relock_run_owned(RELOCK_EXECUTING, mutex, section, context);
}

/* Counts sections that this thread has just run for others. */
static inline void relock_count_batch(struct relock_thread *self, const relock_class_t *lock_class,
                                      unsigned sections) {
  uint32_t index = lock_class->relock_index;
  struct relock_counters *counters = self ? relock_counters_of(self, index) : NULL;
  if (RELOCK_LIKELY(counters != NULL)) {
    relock_count_own(&counters->value[RELOCK_COUNT_BATCHES], 1);
    relock_count_own(&counters->value[RELOCK_COUNT_DELEGATED], sections);
    return;
  }
  relock_stats_count(self, index, RELOCK_COUNT_BATCHES, 1);
  relock_stats_count(self, index, RELOCK_COUNT_DELEGATED, sections);
}

#endif
