/* SPDX-License-Identifier: MIT
 *
 * The queue of waiters. See queue.h for its states and invariants.
 */
#include "queue.h"

/* How long a sleeping head lets arrivals pass. The value of Go's sync.Mutex for the same purpose
 * (starvation mode after 1 ms). */
#define OPEN_NS 1000000u

#define GENERATION_SHIFT 48
#define GENERATION_MASK 0xffffu

static uintptr_t tail_for(const struct relock_waiter *waiter) {
  return (uintptr_t)waiter | (uintptr_t)(relock_generation() & GENERATION_MASK) << GENERATION_SHIFT;
}

/* The last waiter, or null for an empty queue. */
static struct relock_waiter *last_waiter(uintptr_t tail) {
  if (tail >> GENERATION_SHIFT != (relock_generation() & GENERATION_MASK))
    return NULL;
  return (struct relock_waiter *)(tail & (((uintptr_t)1 << GENERATION_SHIFT) - 1));
}

static void link_after(struct relock_waiter *previous, struct relock_waiter *self) {
  previous->next = self;
  /* Release: pairs with the acquires in await_link(). */
  if (relock_exchange_release(&previous->linked, RELOCK_LINKED) == RELOCK_AWAITED)
    relock_os->futex_wake(&previous->linked, 1);
}

/* Waits for the link of a successor that has swapped itself in and not linked itself yet. */
static void await_link(struct relock_waiter *waiter) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL);
  /* Acquire: pairs with the release in link_after(). */
  while (relock_load_acquire(&waiter->linked) != RELOCK_LINKED) {
    if (relock_wait_again(&wait))
      continue;
    relock_cas_relaxed(&waiter->linked, RELOCK_UNLINKED, RELOCK_AWAITED);
    relock_wait_park(&wait, &waiter->linked, RELOCK_AWAITED, CLOCK_MONOTONIC, NULL);
  }
}

static uint32_t await_grant(struct relock_waiter *self, struct relock_wait *wait) {
  for (;;) {
    /* Acquire: pairs with the release in relock_queue_grant(). */
    uint32_t state = relock_load_acquire(&self->state);
    if (state >= RELOCK_HEAD)
      return state;
    if (relock_wait_again(wait))
      continue;
    relock_cas_relaxed(&self->state, RELOCK_WAITING, RELOCK_PARKED);
    relock_wait_park(wait, &self->state, RELOCK_PARKED, CLOCK_MONOTONIC, NULL);
  }
}

bool relock_queue_pass(relock_mutex_t *mutex, struct relock_wait *wait) {
  while (relock_load_relaxed(&mutex->relock_private.open)) {
    if (relock_word_try(&mutex->relock_private.word))
      return true;
    if (!relock_wait_again(wait))
      return false;
  }
  return false;
}

uint32_t relock_queue_enter(relock_mutex_t *mutex, struct relock_waiter *self,
                            struct relock_wait *wait) {
  self->linked = RELOCK_UNLINKED;
  self->state = RELOCK_WAITING;
  /* Release: the node is initialised for whoever swaps in behind it, and for the owner of the
   * word that finds it last. Acquire: the previous node is, for us. Both sides are this line and
   * the exchange in relock_queue_leave(). */
  uintptr_t tail = relock_exchange_acq_rel(&mutex->relock_private.tail, tail_for(self));
  struct relock_waiter *previous = last_waiter(tail);
  if (!previous)
    return RELOCK_HEAD;
  link_after(previous, self);
  return await_grant(self, wait);
}

static void close_queue(relock_mutex_t *mutex) {
  if (relock_load_relaxed(&mutex->relock_private.open))
    relock_store_relaxed(&mutex->relock_private.open, 0);
}

void relock_queue_take_word(relock_mutex_t *mutex, struct relock_wait *wait) {
  uint32_t *word = &mutex->relock_private.word;
  do {
    if (relock_word_try(word)) {
      close_queue(mutex);
      return;
    }
  } while (relock_wait_again(wait));

  uint32_t *open = &mutex->relock_private.open;
  if (!relock_load_relaxed(open))
    relock_store_relaxed(open, 1);
  uint64_t start = relock_os->now_ns();
  /* Acquire: pairs with the release in relock_word_release(). */
  while (relock_exchange_acquire(word, RELOCK_WORD_PARKED) != RELOCK_WORD_FREE) {
    if (relock_os->now_ns() - start > OPEN_NS)
      relock_store_relaxed(open, 0);
    relock_wait_park(wait, word, RELOCK_WORD_PARKED, CLOCK_MONOTONIC, NULL);
  }
  close_queue(mutex);
}

struct relock_waiter *relock_queue_leave(relock_mutex_t *mutex, struct relock_waiter *first) {
  /* Acquire: pairs with the release in link_after(). */
  if (relock_load_acquire(&first->linked) != RELOCK_LINKED) {
    /* Release: pairs with the acquire of the exchange in relock_queue_enter(). */
    if (relock_cas_release(&mutex->relock_private.tail, tail_for(first), 0))
      return NULL;
    await_link(first);
  }
  return first->next;
}

const uint32_t *relock_queue_make_head(relock_mutex_t *mutex, struct relock_waiter *waiter) {
  /* The mutex is there as long as the waiter waits for it. */
  if (relock_load_relaxed(&waiter->state) == RELOCK_PARKED)
    relock_store_relaxed(&mutex->relock_private.open, 1);
  return relock_queue_grant(waiter, RELOCK_HEAD);
}

const uint32_t *relock_queue_grant(struct relock_waiter *waiter, uint32_t state) {
  const uint32_t *futex = &waiter->state;
  /* Release: pairs with the acquire in await_grant(). */
  return relock_exchange_release(&waiter->state, state) == RELOCK_PARKED ? futex : NULL;
}

void relock_queue_lock(relock_mutex_t *mutex) {
  struct relock_waiter self = {.section = NULL};
  struct relock_wait wait;
  relock_wait_begin(&wait, mutex);
  if (relock_queue_pass(mutex, &wait)) {
    relock_wait_end(&wait);
    return;
  }
  relock_queue_enter(mutex, &self, &wait);
  relock_queue_take_word(mutex, &wait);
  struct relock_waiter *next = relock_queue_leave(mutex, &self);
  if (next) {
    const uint32_t *futex = relock_queue_make_head(mutex, next);
    if (futex)
      relock_os->futex_wake(futex, 1);
  }
  relock_wait_end(&wait);
}
