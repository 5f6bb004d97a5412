/* SPDX-License-Identifier: MIT
 *
 * A combiner's batch: its own section and those that it runs for others before it hands the lock
 * on. How requests are found is the algorithm's; this is the rest, the same for all:
 *
 *   result = relock_batch_begin(&batch, mutex, self, call);     the combiner's own section
 *   while (next && relock_batch_takes(&batch, next)) {
 *     relock_batch_run(&batch, next);
 *     next = ...;
 *   }
 *   relock_batch_release(&batch, mutex);
 *   ... next, if any, is told that it is the head ...
 *   relock_batch_end(&batch);
 *
 * A batch is bounded by sections and by time, its own section included: when sections are long,
 * handing over costs nothing beside them, and a combiner that works for others comes back late. An
 * urgent one works for nobody.
 *
 * Clients that sleep are woken after the release, since waking is done under the lock before. But
 * a result that is there must not wait for the sections of others: once the batch has lasted so
 * long that waking takes a small part of it, those that are owed a wake-up get it before the next
 * section, and an urgent client always does.
 *
 * A combiner that loses its processor delays all that wait. Where the kernel extends time slices it
 * asks for that as long as it has the lock. Granted, it has some microseconds: it begins no other's
 * section any more, hands the lock on, and gives the processor up. Only the outermost batch of a
 * thread asks, and only on its own stack: within another thread's section `self` is that thread.
 *
 * Invariant: a client's DONE comes after its result, and for the last section of a batch after the
 * word is released: its client may free the mutex at once. Clients served before are followed by
 * others that still use the mutex.
 */
#ifndef RELOCK_LOCKS_BATCH_H
#define RELOCK_LOCKS_BATCH_H

#include "../base/arch.h"
#include "../base/class.h"
#include "../base/options.h"
#include "../base/request.h"
#include "../base/thread.h"
#include "../base/word.h"
#include "queue.h"
#include "section.h"
#include "wakes.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

struct relock_batch {
  struct relock_thread *self;
  const relock_class_t *lock_class;
  unsigned most, served;
  struct relock_request *last; /* section run, not yet told */
  bool last_is_urgent;
  uint64_t longest, began, now, woke; /* in ticks; `woke`: when clients were woken last */
  struct relock_wakes wakes;
  struct relock_cond_waiter *owed; /* see owed.h */
  struct relock_slice *slice;      /* of which this batch asks for more, or null */
};

/* In ticks; the explorer's are nanoseconds, and pass at its will. */
#if defined(RELOCK_EXPLORE)
static inline uint64_t relock_batch_clock(void) { return relock_os->now_ns(); }
static inline uint64_t relock_batch_ticks(uint64_t us) { return us * 1000; }
#else
static inline uint64_t relock_batch_clock(void) { return relock_ticks_early(); }
static inline uint64_t relock_batch_ticks(uint64_t us) {
  return us * relock_ticks_per_millisecond() / 1000;
}
#endif

static inline struct relock_slice *relock_batch_ask_for_slice(const struct relock_thread *self) {
  struct relock_slice *slice = self->slice;
  if (RELOCK_LIKELY(!slice) || relock_frame() - self->stack_end > self->stack ||
      relock_load_relaxed(&slice->asks) || relock_load_relaxed(&slice->granted))
    return NULL;
  relock_store_relaxed(&slice->asks, 1);
  return slice;
}

/* By the owner of the word, who may run the sections of others: runs its own. */
static inline int relock_batch_begin(struct relock_batch *batch, relock_mutex_t *mutex,
                                     struct relock_thread *self, const struct relock_call *call) {
  batch->self = self;
  batch->lock_class = relock_class_of(mutex);
  batch->most = relock_is_urgent(self) ? 0 : relock_tuning.batch;
  batch->served = 0;
  batch->last = NULL;
  batch->wakes.count = 0;
  batch->slice = relock_batch_ask_for_slice(self);
  batch->longest = relock_batch_ticks(relock_tuning.batch_us);
  batch->began = batch->woke = relock_batch_clock();
  relock_sections_begin(mutex, RELOCK_EXECUTING, self);
  return call->section(call->context);
}

/* Whether this batch may go on with that request, which is no holder's then. */
static inline bool relock_batch_takes(struct relock_batch *batch,
                                      const struct relock_request *next) {
  if (!next->section || batch->served >= batch->most)
    return false;
  if (RELOCK_UNLIKELY(batch->slice != NULL) && relock_load_relaxed(&batch->slice->granted))
    return false;
  batch->now = relock_batch_clock();
  return batch->now - batch->began <= batch->longest && relock_thread_has_room(batch->self, next);
}

/* Between two sections, when clients are asleep whose sections have been run: that of the last
 * one, on this futex if it is not null, and those before it. Wakes them now, or later. */
void relock_batch_wake(struct relock_batch *batch, const uint32_t *last);

/* Tells the last client, and turns to the one that asks by `next` and waits on `line`. */
static inline void relock_batch_turn_to(struct relock_batch *batch, struct relock_request *line,
                                        const struct relock_request *next) {
  if (batch->last) {
    const uint32_t *sleeps = relock_queue_grant(batch->last, RELOCK_DONE);
    if (RELOCK_UNLIKELY(sleeps || batch->wakes.count > 0))
      relock_batch_wake(batch, sleeps);
  }
  batch->last = line;
  batch->last_is_urgent = next->result & RELOCK_URGENT;
  batch->served++;
}

/* Runs the section of a request that the batch takes. */
static inline void relock_batch_run(struct relock_batch *batch, struct relock_request *next) {
  relock_batch_turn_to(batch, next, next);
  relock_request_run(next);
}

/* The word is not the caller's any more, and the mutex is not touched, but on behalf of clients
 * that still wait. Wake-ups that sections owe are sent by relock_batch_end(). */
static inline void relock_batch_release(struct relock_batch *batch, relock_mutex_t *mutex) {
  batch->owed = relock_sections_end(mutex);
  relock_word_release(&mutex->relock_private.word);
}

/* Tells the last client, wakes all that sleep, and counts. */
static inline void relock_batch_end(struct relock_batch *batch) {
  if (batch->last)
    relock_wakes_add(&batch->wakes, relock_queue_grant(batch->last, RELOCK_DONE));
  if (RELOCK_UNLIKELY(batch->slice != NULL))
    relock_store_relaxed(&batch->slice->asks, 0);
  relock_wakes_send(&batch->wakes);
  relock_send_owed(batch->owed);
  if (RELOCK_UNLIKELY(batch->slice != NULL) && relock_load_relaxed(&batch->slice->granted))
    relock_os->end_slice();
  if (batch->served)
    relock_count_batch(batch->self, batch->lock_class, batch->served);
}

#endif
