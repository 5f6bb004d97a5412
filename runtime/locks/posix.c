/* SPDX-License-Identifier: MIT
 *
 * posix: the exclusion word and nothing else, in effect the normal mutex of a C library (Drepper,
 * "Futexes are tricky", 2011, mutex 2) with a bounded spin before it sleeps.
 *
 * Progress and fairness: whoever finds the word free takes it; a sleeper can be passed any number
 * of times. Memory: none beyond the mutex. A waiter spins on the word. A preempted holder delays
 * everybody; waiters sleep meanwhile.
 */
#include "../base/word.h"
#include "algorithm.h"

static void posix_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_posix = {.name = "posix", .lock = posix_lock};
