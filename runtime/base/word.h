/* SPDX-License-Identifier: MIT
 *
 * The exclusion word: whoever runs under a mutex, be it a holder, a combiner or a server, owns
 * its word. It is also a futex.
 *
 *             take (CAS)                  wait (exchange PARKED, reads HELD or PARKED)
 *   FREE ------------------> HELD --------------------------> PARKED
 *    ^  \                      |                                |  \__ wait (reads PARKED)
 *    |   \ wait (exchange PARKED, reads FREE): taken            |
 *    |    `----------------------------------------------------^|
 *    |          release              |    release, wakes one    |
 *    `-------------------------------+--------------------------'
 *
 * Invariant: if a thread sleeps on the word, the word is PARKED, or a wake-up is on its way to
 * one of the sleepers; that one sets PARKED again when it takes the word or sleeps, as it cannot
 * know whether there are more.
 *
 * The word is what makes the algorithms mix: a trylock is one CAS, a timed lock a timed wait, an
 * unlock works from any thread, and a holder and an executed section exclude each other whatever
 * queue or server they came through.
 */
#ifndef RELOCK_BASE_WORD_H
#define RELOCK_BASE_WORD_H

#include "atomic.h"
#include "os.h"
#include "wait.h"

#include <stdbool.h>
#include <stdint.h>

enum { RELOCK_WORD_FREE, RELOCK_WORD_HELD, RELOCK_WORD_PARKED };

static inline bool relock_word_try(uint32_t *word) {
  /* Acquire: pairs with the release in relock_word_release(). */
  return relock_load_relaxed(word) == RELOCK_WORD_FREE &&
         relock_cas_acquire(word, RELOCK_WORD_FREE, RELOCK_WORD_HELD);
}

/* Nothing but the address is used after the exchange: the next owner may free the word. */
static inline void relock_word_release(uint32_t *word) {
  /* Release: pairs with the acquire of whoever takes the word next. */
  if (RELOCK_UNLIKELY(relock_exchange_release(word, RELOCK_WORD_FREE) == RELOCK_WORD_PARKED))
    relock_os->futex_wake(word, 1);
}

/* Takes the word, competing with everybody. 0, or ETIMEDOUT after a deadline that is not null. */
int relock_word_wait(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                     const struct timespec *deadline);

#endif
