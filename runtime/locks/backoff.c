/* SPDX-License-Identifier: MIT
 *
 * backoff: a spin lock whose waiters stay away for exponentially growing times between bounds that
 * the machine sets. Source: Reble's thesis (2015), 2.3.6 and 3.5.3; the idea is Anderson's (1990).
 *
 * Protocol: d = low; until the word is taken: wait for d; d = min(2 d, high). Unlike ttas, a
 * waiter looks at the word only between its delays, and backs off whether it was held or lost.
 *
 * The bounds. The thesis prints no numbers, only that they depend on communication distance and
 * on how many compete. The lower bound is what one transfer of a cache line takes; the upper one
 * such a transfer for each processor, since no more threads can try at once, but no more than half
 * the time that anybody spins. Both become pauses by the calibration of wait.h.
 *
 * Invariant: `tail` and `open` stay 0; everything is in the word (word.h).
 *
 * Progress and fairness: whenever the word is free, the next attempt succeeds, at the latest after
 * the upper bound; a waiter can be passed any number of times, and newcomers have the advantage.
 * Memory: none beyond the mutex, none per thread. A preempted or blocked holder delays everybody;
 * a preempted waiter delays nobody. A thread that ends while it holds the mutex leaves it held,
 * as with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: all delays together last no longer than anybody spins, then the
 * waiter sleeps; the distance is not known, so one time stands for all transfers.
 */
#include "algorithm.h"
#include "spin.h"

enum { TRANSFER_NS = 50, HIGHEST_PART = 2 };

/* The upper bound, in pauses; 0 until it is known. */
static uint32_t known_high;

static uint32_t high_bound(void) {
  uint32_t high = relock_load_relaxed(&known_high);
  if (RELOCK_UNLIKELY(high == 0)) {
    uint32_t highest = relock_wait_spins() / HIGHEST_PART + 1;
    high = relock_spin_pauses(TRANSFER_NS * relock_os->cpus());
    if (high > highest)
      high = highest;
    relock_store_relaxed(&known_high, high);
  }
  return high;
}

static void backoff_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  uint32_t delay = relock_spin_pauses(TRANSFER_NS), high = high_bound();
  bool taken = false;
  while (!taken && relock_spin_back_off(&wait, delay)) {
    taken = relock_word_try(&mutex->relock_private.word);
    delay = delay < high / 2 ? delay * 2 : high;
  }
  if (!taken)
    relock_spin_park(mutex, &wait);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_backoff = {.name = "backoff", .lock = backoff_lock};
