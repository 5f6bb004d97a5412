/* SPDX-License-Identifier: MIT
 *
 * ticket: a counter of tickets in front of the exclusion word, with proportional back-off. Source:
 * Mellor-Crummey and Scott, "Algorithms for scalable synchronization on shared-memory
 * multiprocessors" (1991), 2.2; Lozi's thesis (2014), 3.5. The places to sleep are those of Dice
 * and Kogan, "TWA – ticket locks augmented with a waiting array" (2019).
 *
 * Protocol: `tail` holds two counters, the next ticket and the one being served. A waiter draws a
 * ticket; when it is served, and only then, it waits for the word; when it has the word, it has the
 * next ticket served. Whoever serves the last ticket makes `tail` 0, and arrivals take a free word
 * without a ticket again. While its turn is k tickets away a waiter looks at the counter after k
 * times the shortest delay, since that many sections come first.
 *
 * States of a waiter:
 *
 *   WAITS (looks at the counter) --its time is up--> SLEEPS (in the waiting array)
 *     |  served                                         |  served, woken
 *     `---> TURN (the only one that waits for the word) <'
 *              `---> owner: serves the next ticket
 *
 * The waiting array is global: a waiter that sleeps marks the slot that its mutex and its ticket
 * hash to, and sleeps on it; who serves a ticket wakes all in its slot if it is marked. Those who
 * share the slot by chance look again. A slot's lowest bit says that there may be sleepers, the
 * others count wake-ups, so that a sleeper that has not slept yet does not.
 *
 * Invariants
 *  - `tail` is 0, or next != serving or somebody is about to make it 0. Only the owner of the word
 *    that had its turn advances `serving`.
 *  - A sleeper marks its slot and then looks at `serving`; who serves advances `serving` and then
 *    looks at the slot; all four sequentially consistent: one of the two sees the other.
 *
 * Progress and fairness: first come, first served, except that try and timed locks take a free word
 * whoever waits, and that arrivals may pass for up to a millisecond while the waiter whose turn it
 * is sleeps (queue.h says why, and does it). So each waiter waits for those before it and a bounded
 * time each. Memory: none beyond the mutex, none per thread; 8 KiB for all. A preempted or blocked
 * holder delays everybody; a preempted waiter those behind it from when its turn has come until it
 * runs again, unless it sleeps. A thread that ends while it holds the mutex leaves it held, as with
 * a POSIX mutex; no waiter can end.
 *
 * Departures from the source: waiters only draw tickets, and give up their turn when they have the
 * lock instead of when they release it; they sleep. The delay per ticket is a fixed one, not the
 * duration of a section, which no lock can know.
 */
#include "algorithm.h"
#include "queue.h"
#include "spin.h"

/* The shortest delay, for the next in turn: a quick section and its cache lines. */
enum { TURN_NS = 100 };

enum { SERVING_BITS = 32, SLOTS = 2048, SLEEPERS = 1 };

static uint32_t slots[SLOTS];

static uint32_t serving_of(uintptr_t tail) { return (uint32_t)tail; }
static uint32_t next_of(uintptr_t tail) { return (uint32_t)(tail >> SERVING_BITS); }
static uintptr_t tail_of(uint32_t next, uint32_t serving) {
  return (uintptr_t)next << SERVING_BITS | serving;
}
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "two counters");

/* Successive tickets go to different lines, so that their wake-ups do not meet. */
static uint32_t *slot_of(const relock_mutex_t *mutex, uint32_t ticket) {
  enum { STRIDE = RELOCK_CACHE_LINE / sizeof(uint32_t) + 1 };
  uint32_t place = (uint32_t)(relock_address(mutex) >> 4) * 0x9e3779b1u >> 16;
  return &slots[(place + ticket * STRIDE) % SLOTS];
}

/* Sleeps in the waiting array until the ticket may be served. */
static void sleep_for(relock_mutex_t *mutex, uint32_t ticket, struct relock_wait *wait) {
  uint32_t *slot = slot_of(mutex, ticket);
  /* Both sequentially consistent: pair with the two in serve_next(). */
  uint32_t marked = relock_or_seq_cst(slot, SLEEPERS) | SLEEPERS;
  if (serving_of(relock_load_seq_cst(&mutex->relock_private.tail)) != ticket)
    relock_wait_park(wait, slot, marked, CLOCK_MONOTONIC, NULL);
}

static void await_turn(relock_mutex_t *mutex, uint32_t ticket, struct relock_wait *wait) {
  uint32_t delay = relock_spin_pauses(TURN_NS);
  for (;;) {
    /* Acquire: pairs with serve_next(). */
    uint32_t serving = serving_of(relock_load_acquire(&mutex->relock_private.tail));
    if (serving == ticket)
      return;
    if (!relock_spin_back_off(wait, delay * (ticket - serving)))
      sleep_for(mutex, ticket, wait);
  }
}

/* Makes the ticket behind this one the served one, or `tail` 0 if nobody has it. */
static void serve_next(relock_mutex_t *mutex, uint32_t ticket) {
  uintptr_t *tail = &mutex->relock_private.tail, old, new;
  uint32_t *slot = slot_of(mutex, ticket + 1);
  do {
    old = relock_load_relaxed(tail);
    bool last = next_of(old) == ticket + 1;
    new = last ? 0 : tail_of(next_of(old), ticket + 1);
    /* The word is open to arrivals while its next owner has to wake up first. */
    if (!last && relock_load_relaxed(slot) & SLEEPERS)
      relock_store_relaxed(&mutex->relock_private.open, 1);
    /* Sequentially consistent, as the load below: pair with the two in sleep_for(). As a release:
     * pairs with the acquires in await_turn() and in ticket_lock(). */
  } while (!relock_cas_seq_cst(tail, old, new));
  uint32_t marked = relock_load_seq_cst(slot);
  if (new == 0 || !(marked & SLEEPERS))
    return;
  relock_cas_relaxed(slot, marked, marked + 1); /* no more sleepers, and one more wake-up */
  relock_os->futex_wake(slot, INT32_MAX);
}

static void ticket_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (!relock_queue_pass(mutex, &wait)) {
    /* Acquire: `open` was written by the one who served this ticket, if it is served. */
    uintptr_t drawn = relock_add_acquire(&mutex->relock_private.tail, tail_of(1, 0));
    uint32_t ticket = next_of(drawn);
    await_turn(mutex, ticket, &wait);
    relock_queue_take_word(mutex, &wait);
    serve_next(mutex, ticket);
  }
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_ticket = {.name = "ticket", .lock = ticket_lock};
