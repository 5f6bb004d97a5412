/* SPDX-License-Identifier: MIT
 *
 * The queue of waiters. See queue.h for its states and invariants.
 */
#include "queue.h"

#include "../base/options.h"

/* In place of a link: the owner of the node sleeps until there is one. */
#define AWAITED ((struct relock_request *)1)

/* The half of a link that tells AWAITED from an address, for the futex. */
static uint32_t *link_futex(struct relock_request *request) {
  return (uint32_t *)&request->next; /* both architectures are little-endian */
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "link_futex()");

static void link_after(struct relock_request *previous, struct relock_request *request) {
  /* Release: pairs with the acquires in await_link(). */
  if (relock_exchange_release(&previous->next, request) == AWAITED)
    relock_os->futex_wake(link_futex(previous), 1);
}

/* Waits for the link of a successor that has swapped itself in and not linked itself yet. */
static struct relock_request *await_link(struct relock_request *request) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  for (;;) {
    /* Acquire: pairs with the release in link_after(). */
    struct relock_request *next = relock_load_acquire(&request->next);
    if (next && next != AWAITED)
      return next;
    if (relock_wait_again(&wait))
      continue;
    relock_cas_relaxed(&request->next, NULL, AWAITED);
    relock_wait_park(&wait, link_futex(request), 1, CLOCK_MONOTONIC, NULL);
  }
}

uint32_t relock_queue_await(struct relock_request *request, struct relock_wait *wait) {
  wait->spins = relock_wait_spins_in_queue();
  for (;;) {
    /* Acquire: pairs with the release in relock_queue_grant(). */
    uint32_t state = relock_load_acquire(&request->state);
    if (state >= RELOCK_HEAD)
      return state;
    if (relock_wait_again(wait))
      continue;
    if (relock_cas_relaxed(&request->state, state, RELOCK_PARKED) && state == RELOCK_WAITING_FAST)
      relock_word_barrier(); /* a grant that was half done has seen the mark, or is over */
    relock_wait_park(wait, &request->state, RELOCK_PARKED, CLOCK_MONOTONIC, NULL);
  }
}

bool relock_queue_pass(relock_mutex_t *mutex, struct relock_wait *wait) {
  while (relock_load_relaxed(&mutex->relock_private.open) == RELOCK_OPEN) {
    if (relock_word_try(&mutex->relock_private.word))
      return true;
    if (!relock_wait_again(wait))
      return false;
  }
  return false;
}

bool relock_queue_join(relock_mutex_t *mutex, struct relock_request *request) {
  relock_store_relaxed(&request->next, NULL);
  /* Release: the node is initialised for whoever swaps in behind it, and for the owner of the
   * word that finds it last. Acquire: the previous node is, for us. Both sides are this line and
   * the exchange in relock_queue_leave(). */
  uintptr_t tail = relock_exchange_acq_rel(&mutex->relock_private.tail, (uintptr_t)request);
  if (tail)
    link_after((struct relock_request *)tail, request);
  return !tail;
}

uint32_t relock_queue_enter(relock_mutex_t *mutex, struct relock_request *request,
                            struct relock_wait *wait) {
  relock_store_relaxed(&request->state, relock_queue_waiting());
  return relock_queue_join(mutex, request) ? RELOCK_HEAD : relock_queue_await(request, wait);
}

bool relock_queue_compete(uint32_t *word, const uint8_t *open, struct relock_wait *wait) {
  struct relock_distances distances = relock_word_distances(wait);
  do
    if (relock_load_relaxed(open) != RELOCK_CLOSED && relock_word_try(word))
      return true;
  while (relock_word_await_next_look(&distances, wait));
  return false;
}

void relock_queue_take(uint32_t *word, uint8_t *open, struct relock_wait *wait) {
  wait->spins = relock_wait_spins();
  bool taken = relock_word_spin(word, wait);
  if (!taken) { /* others passed, or the owner stays */
    relock_store_relaxed(open, RELOCK_CLOSED);
    wait->spins = relock_wait_spins_in_queue();
    taken = relock_word_spin(word, wait);
  }
  if (!taken) {
    relock_store_relaxed(open, RELOCK_OPEN);
    uint64_t start = relock_os->now_ns();
    while (!relock_word_park(word, wait, CLOCK_MONOTONIC, NULL, NULL))
      if (relock_os->now_ns() - start > 1000ull * relock_tuning.open_us)
        relock_store_relaxed(open, RELOCK_CLOSED);
  }
  if (relock_load_relaxed(open) != RELOCK_IN_TURN)
    relock_store_relaxed(open, RELOCK_IN_TURN);
}

struct relock_request *relock_queue_leave(relock_mutex_t *mutex, struct relock_request *first) {
  /* Acquire: pairs with the release in link_after(). */
  struct relock_request *next = relock_load_acquire(&first->next);
  if (next)
    return next;
  /* Release: pairs with the acquire of the exchange in relock_queue_join(). */
  if (relock_cas_release(&mutex->relock_private.tail, (uintptr_t)first, 0))
    return NULL;
  return await_link(first);
}

const uint32_t *relock_queue_grant_head(uint8_t *open, struct relock_request *waiter) {
  /* What it belongs to is there as long as the waiter waits for it. */
  if (relock_load_relaxed(&waiter->state) == RELOCK_PARKED)
    relock_store_relaxed(open, RELOCK_OPEN);
  return relock_queue_grant(waiter, RELOCK_HEAD);
}

const uint32_t *relock_queue_grant(struct relock_request *waiter, uint32_t state) {
  const uint32_t *futex = &waiter->state;
  /* Release: pairs with the acquire in relock_queue_await(). */
  if (relock_load_relaxed(&waiter->state) == RELOCK_WAITING_FAST &&
      relock_owner_cas(&waiter->state, RELOCK_WAITING_FAST, state))
    return NULL;
  /* Release: pairs with the acquire in relock_queue_await(). */
  return relock_exchange_release(&waiter->state, state) == RELOCK_PARKED ? futex : NULL;
}

void relock_queue_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (relock_queue_pass(mutex, &wait)) {
    relock_wait_end(&wait);
    return;
  }
  struct relock_request *request = relock_request_take(self);
  relock_request_fill(request, self, NULL);
  relock_queue_enter(mutex, request, &wait);
  relock_queue_take_word(mutex, &wait);
  struct relock_request *next = relock_queue_leave(mutex, request);
  if (next) {
    const uint32_t *futex = relock_queue_make_head(mutex, next);
    if (futex)
      relock_os->futex_wake(futex, 1);
  }
  relock_request_give(self);
  relock_wait_end(&wait);
}
