/* SPDX-License-Identifier: MIT
 *
 * rcl: a mutex that only one thread has asked for lately needs no server. That thread runs its
 * sections itself, as a holder would, until another one asks. What is known of that stands in the
 * mutex's `owner`, which mutices without a type do not need, in a line that clients read anyway:
 *
 *             first asked for by T           asked for by another      T has tried, after so many
 *   NOBODY ------------------------> T's -----------------------> SHARED -----------------> TRIED
 *                                     ^      or T found it taken     ^   served sections     | |
 *                                     |                              '-----------------------' |
 *                                     |                                asked for by another    |
 *                                     '--------------------------------------------------------'
 *                                                 asked for by T alone, LONE_ASKS times
 *
 * While several threads ask, nobody writes there but for a try: that costs the server and each
 * client a line or two. So a mutex is tried half as often after each try, down to once in 4,096
 * sections of all its clients together, until it was one thread's for long. Until a try has
 * succeeded its sections are served as before.
 *
 * These are hints, and all accesses relaxed: who runs under the mutex is decided by its word.
 */
#ifndef RELOCK_SERVER_LONE_H
#define RELOCK_SERVER_LONE_H

#include "../base/atomic.h"
#include "../base/thread.h"
#include "../locks/queue.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* Parts of `owner`: the tag of a thread's record (those without one count as one thread), the
 * state, how often T has asked in TRIED, and how often it was tried. */
enum {
  RELOCK_LONE_SHARED = 1 << 16,
  RELOCK_LONE_TRIED = 1 << 17,
  RELOCK_LONE_ASKED = 1 << 18,
  RELOCK_LONE_TRIES = 1 << 22,
};

/* Served sections of a client, after which it looks whether to try, and
 * sections that it has run itself after which the mutex is forgiven its tries. Guesses. */
enum { RELOCK_LONE_LOOK_EVERY = 64, RELOCK_LONE_LASTS = 1024 };

/* The mutex is not the thread's, or it is time to look whether to try. True: now it is. */
bool relock_lone_look(relock_mutex_t *mutex, struct relock_thread *self) RELOCK_HIDDEN;

/* It is the thread's, for long perhaps. */
void relock_lone_lasts(relock_mutex_t *mutex, struct relock_thread *self) RELOCK_HIDDEN;

/* It was taken. */
void relock_lone_ends(relock_mutex_t *mutex) RELOCK_HIDDEN;

/* Before a request for a mutex without a type. True: nobody else has asked for it, and its word is
 * the caller's. */
static inline bool relock_lone_takes(relock_mutex_t *mutex, struct relock_thread *self) {
  const uintptr_t found = relock_load_relaxed(&mutex->relock_private.owner);
  if (RELOCK_LIKELY(found & RELOCK_LONE_SHARED) &&
      self->rcl_served % RELOCK_LONE_LOOK_EVERY != RELOCK_LONE_LOOK_EVERY - 1)
    return false;
  if (found % RELOCK_LONE_TRIES != self->tag && !relock_lone_look(mutex, self))
    return false;
  if (RELOCK_UNLIKELY(!relock_queue_try(mutex))) {
    relock_lone_ends(mutex);
    return false;
  }
  if (RELOCK_UNLIKELY(++self->rcl_lone % RELOCK_LONE_LASTS == 0))
    relock_lone_lasts(mutex, self);
  return true;
}

#endif
