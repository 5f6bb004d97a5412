/* SPDX-License-Identifier: MIT
 *
 * What the algorithms have in common that spin on the word by a discipline of their own: they look
 * at it less often than at every pause, for as long as wait.h lets anybody spin, and then sleep on
 * it like everybody. Delays are counted in pauses and given in nanoseconds, which the calibration
 * of wait.h converts.
 */
#ifndef RELOCK_LOCKS_SPIN_H
#define RELOCK_LOCKS_SPIN_H

#include "../base/options.h"
#include "../base/wait.h"
#include "../base/word.h"

#include <relock/relock.h>

/* The pauses that fill about so many nanoseconds, at least one. */
static inline uint32_t relock_spin_pauses(uint32_t ns) {
  uint64_t spin_ns = relock_tuning.spin_ns;
  uint64_t pauses = spin_ns > 0 ? (uint64_t)relock_wait_spins() * ns / spin_ns : 0;
  return pauses > 0 ? (uint32_t)pauses : 1;
}

/* Pauses so often, or as often as the wait has left. True: look again. False: it had none left, it
 * is time to park. */
static inline bool relock_spin_back_off(struct relock_wait *wait, uint32_t pauses) {
  bool again = relock_wait_again(wait);
  while (--pauses > 0 && relock_wait_again(wait))
    ;
  return again;
}

/* Sleeps until the word is the caller's. */
static inline void relock_spin_park(relock_mutex_t *mutex, struct relock_wait *wait) {
  while (!relock_word_park(&mutex->relock_private.word, wait, CLOCK_MONOTONIC, NULL, NULL))
    ;
}

#endif
