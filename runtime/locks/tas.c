/* SPDX-License-Identifier: MIT
 *
 * tas: the test-and-set lock, the simplest of spin locks. Source: Lozi's thesis (2014), algorithm
 * 1; Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors"
 * (1990).
 *
 * Protocol: a waiter tries to change the word from free to held, whatever it is, with a pause
 * between two attempts. Each attempt takes the word's cache line away from the owner and from
 * the other waiters, so the lock gets slower with each waiter that spins: it is here as the
 * baseline that this is measured against.
 *
 * Invariant: `tail` and `open` stay 0; everything is in the word (word.h).
 *
 * Progress and fairness: whenever the word is free, some attempt succeeds; a waiter can be passed
 * any number of times. Memory: none beyond the mutex, none per thread. A preempted or blocked
 * holder delays everybody; a preempted waiter delays nobody. A thread that ends while it holds
 * the mutex leaves it held, as with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: a waiter that has spun for the bounded time of wait.h sleeps; and
 * an arrival looks once before its first attempt, as with all algorithms.
 */
#include "algorithm.h"
#include "spin.h"

/* An attempt without a look. */
static bool test_and_set(uint32_t *word) {
  /* Acquire: pairs with the release in relock_word_release(). */
  return relock_cas_acquire(word, RELOCK_WORD_FREE, relock_load_relaxed(&relock_word_taken));
}

static void tas_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  bool taken;
  do
    taken = test_and_set(&mutex->relock_private.word);
  while (!taken && relock_wait_again(&wait));
  if (!taken)
    relock_spin_park(mutex, &wait);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_tas = {.name = "tas", .lock = tas_lock};
