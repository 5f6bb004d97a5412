/* SPDX-License-Identifier: MIT
 *
 * Running sections by the owner of the word. `executing` tells relock_cond_wait() that its caller
 * is a section; it is written only by the word's owner.
 */
#ifndef RELOCK_LOCKS_SECTION_H
#define RELOCK_LOCKS_SECTION_H

#include "../base/annotate.h"
#include "../base/atomic.h"
#include "../base/request.h"
#include "../base/thread.h"
#include "../base/word.h"
#include "owed.h"

#include <relock/relock.h>

/* Parts of a mutex's `kind`: its type, that the statistics know it, that it is timed, that its
 * algorithm is to be told when the holder releases it (`release`, algorithm.h), and that a race
 * detector watches it (annotate.h). */
enum {
  RELOCK_KIND_TYPE = 3,
  RELOCK_KIND_SEEN = 4,
  RELOCK_KIND_TIMED = 8,
  RELOCK_KIND_TELLS = 16,
  RELOCK_KIND_WATCHED = 32
};

static inline bool relock_is_timed(const relock_mutex_t *mutex) {
  return RELOCK_UNLIKELY(relock_load_relaxed(&mutex->relock_private.kind) & RELOCK_KIND_TIMED);
}

static inline bool relock_mutex_is_watched(const relock_mutex_t *mutex) {
  return RELOCK_UNLIKELY(relock_load_relaxed(&mutex->relock_private.kind) & RELOCK_KIND_WATCHED);
}

/* Releases the word of a mutex that may be watched. */
static inline void relock_release_watched(relock_mutex_t *mutex) {
  const bool watched = relock_mutex_is_watched(mutex);
  if (watched)
    relock_annotate_unlocking(mutex);
  relock_word_release(&mutex->relock_private.word);
  if (watched)
    relock_annotate_unlocked(mutex);
}

/* A step of a resumable section, the context of relock_run_step(). The step itself is in its
 * client's frame, where only who runs it may look. */
struct relock_step_call {
  struct relock_step *step;
  relock_section_t section; /* the program's */
  const void *caller;
};
int relock_run_step(void *step_call) RELOCK_HIDDEN;

/* The runtime's own sections, wrapped around the program's: where in its context one has the
 * section that the program has asked for. Also for the debugger, see debug/layout.c. */
struct relock_wrapper {
  relock_section_t runs;
  size_t section;
  bool by_pointer; /* the context is the address of what has it */
};
enum { RELOCK_WRAPPERS = 7 };
extern const struct relock_wrapper relock_wrappers[RELOCK_WRAPPERS] RELOCK_HIDDEN;

/* Values of `executing`, beside RELOCK_OWES_WAKES. In a section that its own client runs instead of
 * a server, and in one that has waited on a condition variable, the caller may wait with the mutex:
 * ALONE. */
enum { RELOCK_EXECUTING = 1, RELOCK_EXECUTING_ALONE = 2 };

/* One of these, or 0: no section runs under the mutex. */
static inline uint8_t relock_executing(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.executing) & (uint8_t)~RELOCK_OWES_WAKES;
}

/* The owner of the word begins to run sections under it, and ends: before it releases the word.
 * Returns the wake-ups to send behind the release. */
static inline void relock_sections_begin(relock_mutex_t *mutex, uint8_t executing,
                                         const struct relock_thread *self) {
  relock_set_holder(mutex, self);
  relock_store_relaxed(&mutex->relock_private.executing, executing);
}
static inline struct relock_cond_waiter *relock_sections_end(relock_mutex_t *mutex) {
  struct relock_cond_waiter *owed = relock_owes(mutex) ? relock_take_owed(mutex) : NULL;
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_set_no_holder(mutex);
  return owed;
}

/* The same by a thread that is not the holder, and is to release the mutex all the same. */
struct relock_cond_waiter *relock_sections_end_for_holder(relock_mutex_t *mutex) RELOCK_HIDDEN;

/* Ends sections and releases the word of a mutex that owes wake-ups. */
void relock_release_owing(relock_mutex_t *mutex) RELOCK_HIDDEN;

/* The holder runs a section of its own and releases the word. */
static inline int relock_run_taken(uint8_t executing, relock_mutex_t *mutex,
                                   relock_section_t section, void *context) {
  relock_store_relaxed(&mutex->relock_private.executing, executing);
  int result = section(context);
  if (RELOCK_UNLIKELY(relock_owes(mutex))) {
    relock_release_owing(mutex);
    return result;
  }
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_set_no_holder(mutex);
  relock_word_release(&mutex->relock_private.word);
  return result;
}
/* The same by the owner of the word, who is no holder yet. */
static inline int relock_run_owned(uint8_t executing, relock_mutex_t *mutex,
                                   const struct relock_thread *self, relock_section_t section,
                                   void *context) {
  relock_set_holder(mutex, self);
  return relock_run_taken(executing, mutex, section, context);
}
static inline int relock_run_and_release(relock_mutex_t *mutex, const struct relock_thread *self,
                                         relock_section_t section, void *context) {
  return relock_run_owned(RELOCK_EXECUTING, mutex, self, section, context);
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
