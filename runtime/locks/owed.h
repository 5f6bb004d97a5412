/* SPDX-License-Identifier: MIT
 *
 * Wake-ups that wait for the release of a mutex. A thread that signals a condition variable mostly
 * holds the mutex that the waiter needs next: woken at once, the waiter would take the processor
 * from it, find the mutex taken and sleep again. So the waiter is noted as owed a wake-up, and
 * whoever releases the mutex sends that behind the release.
 *
 * Invariants
 *  - `holder` of a mutex is the tag of a thread record only while its word is owned on behalf of
 *    that thread; it is written by the owner of the word. So a thread that reads its own tag there
 *    owns the word, and nobody else writes what is said here: unless another thread releases the
 *    mutex for it, as any may that was told to. Such a thread finds a tag that is not its own, and
 *    ends that under the guard `owing` of the holder's record, under which the holder notes
 * waiters.
 *  - `executing` has the bit RELOCK_OWES_WAKES while, and only while, waiters are owed wake-ups at
 *    the release of this mutex. They are on the list `owed` of its holder's record, and all of them
 *    wait with this mutex. A record has such a list for one mutex at a time; signals under another
 *    one wake at once.
 *  - The waiters sleep meanwhile, and their deadlines and cancellations wait for the wake-up, as
 *    they would wait for the mutex.
 *  - A thread that ends, and leaves a mutex taken, leaves the list in its record: the mutex is
 * still its tag's, for whoever unlocks it.
 */
#ifndef RELOCK_LOCKS_OWED_H
#define RELOCK_LOCKS_OWED_H

#include "../base/atomic.h"
#include "../base/thread.h"

#include <relock/relock.h>
#include <stdbool.h>

/* A thread that waits on a condition variable, see mutex/cond.c. */
struct relock_cond_waiter {
  /* Its own line: waiters lie on stacks, and a signal writes to them. */
  _Alignas(RELOCK_CACHE_LINE) struct relock_cond_waiter *next;
  struct relock_cond_waiter *previous;
  relock_mutex_t *mutex; /* that it needs when it is woken */
  uint32_t state;        /* a futex */
  uint32_t ends_as;      /* the state, once a signal has taken it */
};

/* In `executing`. */
enum { RELOCK_OWES_WAKES = 4 };

/* By the owner of the word. A thread without a record is not known as a holder. */
static inline void relock_set_holder(relock_mutex_t *mutex, const struct relock_thread *self) {
  if (RELOCK_LIKELY(self != NULL))
    relock_store_relaxed(&mutex->relock_private.holder, self->tag);
}
static inline void relock_set_no_holder(relock_mutex_t *mutex) {
  relock_store_relaxed(&mutex->relock_private.holder, (uint16_t)0);
}

/* Notes a list of waiters that a signal has taken, all of which wait with this mutex. False: the
 * caller does not own the mutex, or it owes wake-ups at another one; they are to be woken now. */
bool relock_owe(relock_mutex_t *mutex, struct relock_cond_waiter *first,
                struct relock_cond_waiter *last) RELOCK_HIDDEN;

/* Whether the word is owned on behalf of the caller, as far as that is known. */
static inline bool relock_is_holder(const relock_mutex_t *mutex) {
  const struct relock_thread *self = relock_own_record;
  return relock_load_relaxed(&mutex->relock_private.holder) == (self ? self->tag : 0);
}

/* By the owner of the word. */
static inline bool relock_owes(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.executing) & RELOCK_OWES_WAKES;
}

/* By the owner of the word of a mutex that owes wake-ups, before it sets `executing` and `holder`
 * anew: takes the list, which is empty in the child of a fork. */
struct relock_cond_waiter *relock_take_owed(relock_mutex_t *mutex) RELOCK_HIDDEN;

/* Wakes all of a list, which may be empty. Behind the release of the word; the mutex is not
 * touched. */
void relock_wake_owed(struct relock_cond_waiter *first) RELOCK_HIDDEN;
static inline void relock_send_owed(struct relock_cond_waiter *first) {
  if (RELOCK_UNLIKELY(first != NULL))
    relock_wake_owed(first);
}

#endif
