/* SPDX-License-Identifier: MIT
 *
 * Waiting for the exclusion word.
 */
#include "word.h"

int relock_word_wait(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                     const struct timespec *deadline) {
  do {
    if (relock_word_try(word))
      return 0;
  } while (relock_wait_again(wait));

  /* Acquire: pairs with the release in relock_word_release(). */
  while (relock_exchange_acquire(word, RELOCK_WORD_PARKED) != RELOCK_WORD_FREE) {
    int error = relock_wait_park(wait, word, RELOCK_WORD_PARKED, clock, deadline);
    if (error)
      return error;
  }
  return 0;
}
