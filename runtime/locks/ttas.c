/* SPDX-License-Identifier: MIT
 *
 * ttas: test-and-test-and-set with exponential back-off. Source: Anderson, "The performance of spin
 * lock alternatives for shared-memory multiprocessors" (1990), in the form of Herlihy and Shavit,
 * "The Art of Multiprocessor Programming" (2008), 7.4.
 *
 * Protocol: a waiter reads the word, which costs nothing while nobody writes it, until it is free,
 * and then tries to take it. When another was faster it stays away for a random time below a
 * limit, and doubles the limit:
 *
 *   READS --word is free--> TRIES --lost--> BACKS OFF (random below the limit, limit doubles)
 *     ^                       `--won--> owner                          |
 *     `----------------------------------------------------------------'
 *
 * Invariant: `tail` and `open` stay 0; everything is in the word (word.h).
 *
 * Progress and fairness: whenever the word is free and somebody looks, some attempt succeeds; a
 * waiter can be passed any number of times, the more easily the longer it has backed off. Memory:
 * none beyond the mutex, none per thread. A preempted or blocked holder delays everybody; a
 * preempted waiter delays nobody. A thread that ends while it holds the mutex leaves it held, as
 * with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: reading and backing off together last no longer than anybody spins
 * (wait.h), then the waiter sleeps, so the limit need not be tuned to the number of threads.
 */
#include "algorithm.h"
#include "spin.h"

/* The first limit, about a cache line's transfer, and the last, a quarter of the time to spin. The
 * source leaves both to be tuned. */
enum { FIRST_NS = 50, LAST_PART = 4 };

/* xorshift32. Numbers that differ between threads are all that is needed. */
static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static void ttas_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  uint32_t *word = &mutex->relock_private.word;
  uint32_t random = self->number * 0x9e3779b9u + 1;
  uint32_t limit = relock_spin_pauses(FIRST_NS), last = relock_wait_spins() / LAST_PART + 1;
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  bool go_on;
  do {
    if (relock_load_relaxed(word) != RELOCK_WORD_FREE) {
      go_on = relock_wait_again(&wait);
      continue;
    }
    if (relock_word_try(word)) {
      relock_wait_end(&wait);
      return;
    }
    go_on = relock_spin_back_off(&wait, next_random(&random) % limit + 1);
    limit = limit < last / 2 ? limit * 2 : last;
  } while (go_on);
  relock_spin_park(mutex, &wait);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_ttas = {.name = "ttas", .lock = ttas_lock};
