/* SPDX-License-Identifier: MIT
 *
 * Mutexes of rcl that one thread asks for: what is seldom, see lone.h.
 */
#include "lone.h"

#include "../base/options.h"
#include "server.h"

/* A try that fails costs the mutex's line as often; a try that wrongly succeeds a barrier, and the
 * server, which has the word no more, 16 slower sections (ownership.c). */
enum { LONE_ASKS = 16, MOST_TRIES = 6 };
_Static_assert(LONE_ASKS *RELOCK_LONE_ASKED <= RELOCK_LONE_TRIES, "they fit");

static void set(relock_mutex_t *mutex, uintptr_t value) {
  relock_store_relaxed(&mutex->relock_private.owner, value);
}

static uintptr_t tries(uintptr_t found) { return found & -(uintptr_t)RELOCK_LONE_TRIES; }

void relock_lone_ends(relock_mutex_t *mutex) {
  const uintptr_t found = relock_load_relaxed(&mutex->relock_private.owner);
  if (!(found & RELOCK_LONE_SHARED))
    set(mutex, RELOCK_LONE_SHARED | tries(found));
}

void relock_lone_lasts(relock_mutex_t *mutex, struct relock_thread *self) {
  if (relock_load_relaxed(&mutex->relock_private.owner) != self->tag)
    set(mutex, self->tag);
}

/* With many clients each of them seldom, so that it is seldom for the mutex. */
static void consider_try(relock_mutex_t *mutex, struct relock_thread *self, uintptr_t found) {
  const uint64_t clients = relock_load_relaxed(&relock_slots_end);
  const uintptr_t tried = found / RELOCK_LONE_TRIES;
  const uint64_t least = (uint64_t)RELOCK_LONE_LOOK_EVERY << tried;
  if (!relock_tuning.server_lone || self->rcl_served < least * (clients ? clients : 1))
    return;
  self->rcl_served = 0;
  const uintptr_t more = tried < MOST_TRIES ? RELOCK_LONE_TRIES : 0;
  set(mutex, (tries(found) + more) | RELOCK_LONE_TRIED | self->tag);
}

bool relock_lone_look(relock_mutex_t *mutex, struct relock_thread *self) {
  const uintptr_t found = relock_load_relaxed(&mutex->relock_private.owner);
  if (found & RELOCK_LONE_SHARED) {
    consider_try(mutex, self, found);
    return false;
  }
  const bool own = (found & UINT16_MAX) == self->tag;
  if (!relock_tuning.server_lone || (found && !own)) {
    relock_lone_ends(mutex);
    return false;
  }
  const uintptr_t asked = found % RELOCK_LONE_TRIES / RELOCK_LONE_ASKED;
  const bool waits = found & RELOCK_LONE_TRIED && asked + 1 < LONE_ASKS;
  set(mutex, waits ? found + RELOCK_LONE_ASKED : tries(found) | self->tag);
  return !waits;
}
