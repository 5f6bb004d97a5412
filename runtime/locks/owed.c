/* SPDX-License-Identifier: MIT
 *
 * Wake-ups that wait for the release of a mutex. See owed.h.
 */
#include "owed.h"

#include "../base/arch.h"
#include "../base/os.h"
#include "section.h"

#include <limits.h>
#include <stddef.h>

/* The record of the thread on whose behalf the word is owned if that is who calls, or null. A
 * section with the identity of its client finds its runner by the stack. */
static struct relock_thread *holder_that_calls(const relock_mutex_t *mutex) {
  const uint16_t tag = relock_load_relaxed(&mutex->relock_private.holder);
  if (tag == 0)
    return NULL;
  struct relock_thread *self = relock_own_record;
  if (self && self->tag == tag)
    return self;
  if (!relock_load_relaxed(&mutex->relock_private.executing))
    return NULL;
  self = relock_thread_on_stack(relock_frame());
  return self && self->tag == tag ? self : NULL;
}

static bool note(relock_mutex_t *mutex, struct relock_thread *self,
                 struct relock_cond_waiter *first, struct relock_cond_waiter *last) {
  const uint8_t executing = relock_load_relaxed(&mutex->relock_private.executing);
  if (!self->owed)
    self->owed = first;
  else if (executing & RELOCK_OWES_WAKES)
    self->owed_last->next = first;
  else
    return false;
  self->owed_last = last;
  relock_store_relaxed(&mutex->relock_private.executing, executing | RELOCK_OWES_WAKES);
  return true;
}

/* The guard of a record's list against those who release a mutex for its thread. */
static void take_owing(struct relock_thread *of) {
  if (relock_word_try(&of->owing))
    return;
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&of->owing, &wait, CLOCK_MONOTONIC, NULL);
}

bool relock_owe(relock_mutex_t *mutex, struct relock_cond_waiter *first,
                struct relock_cond_waiter *last) {
  struct relock_thread *self = holder_that_calls(mutex);
  if (!self)
    return false;
  take_owing(self);
  const bool owes = relock_load_relaxed(&mutex->relock_private.holder) == self->tag &&
                    note(mutex, self, first, last);
  relock_word_release(&self->owing);
  return owes;
}

struct relock_cond_waiter *relock_sections_end_for_holder(relock_mutex_t *mutex) {
  const uint16_t tag = relock_load_relaxed(&mutex->relock_private.holder);
  if (tag == 0)
    return relock_sections_end(mutex);
  struct relock_thread *holder = relock_thread_numbered(tag - 1u);
  take_owing(holder);
  struct relock_cond_waiter *owed = relock_sections_end(mutex);
  relock_word_release(&holder->owing);
  return owed;
}

struct relock_cond_waiter *relock_take_owed(relock_mutex_t *mutex) {
  const uint16_t tag = relock_load_relaxed(&mutex->relock_private.holder);
  struct relock_thread *holder = relock_thread_numbered(tag - 1u);
  struct relock_cond_waiter *first = holder->owed;
  holder->owed = NULL;
  return first;
}

void relock_release_owing(relock_mutex_t *mutex) {
  struct relock_cond_waiter *owed = relock_sections_end(mutex);
  relock_word_release(&mutex->relock_private.word);
  relock_send_owed(owed);
}

/* Each by a wake-up of its own would let each take the processor from the caller. So all are moved
 * to the futex of the first.
 *
 * Their memory may be reused meanwhile: then others who sleep at the same address are moved as
 * well. That is a wake-up for no reason, as whoever moves a sleeper wakes all at the place where it
 * sleeps then; and so nobody misses its own. */
void relock_wake_owed(struct relock_cond_waiter *waiter) {
  const uint32_t *first = &waiter->state;
  while (waiter) {
    const uint32_t *futex = &waiter->state;
    struct relock_cond_waiter *next = waiter->next;
    /* Release: pairs with the acquires in await_end() and sleep_until_signalled(), cond.c. The
     * waiter is gone with this. */
    relock_store_release(&waiter->state, waiter->ends_as);
    if (futex != first)
      relock_os->futex_move(futex, first);
    waiter = next;
  }
  relock_os->futex_wake(first, INT_MAX);
}
