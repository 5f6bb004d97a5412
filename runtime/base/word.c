/* SPDX-License-Identifier: MIT
 *
 * Waiting for the exclusion word.
 */
#include "word.h"

#include "options.h"

#include <stddef.h>

/* Until the start-up code has asked the kernel: the way that works everywhere. */
uint32_t relock_word_taken = RELOCK_WORD_HELD, relock_word_has_barrier;

static struct relock_barriers barriers;
static uint64_t looked_ns, calm_until_ns; /* see bound_barriers() */

void relock_word_start(void) {
  bool fast =
      RELOCK_HAS_OWNER_DECREMENT && relock_tuning.membarrier && relock_os->prepare_barrier();
  relock_store_relaxed(&relock_word_has_barrier, (uint32_t)fast);
  relock_store_relaxed(&relock_word_taken, fast ? RELOCK_WORD_HELD_FAST : RELOCK_WORD_HELD);
  barriers = (struct relock_barriers){0, 0};
}

struct relock_barriers relock_word_barriers(void) {
  return (struct relock_barriers){relock_load_relaxed(&barriers.made),
                                  relock_load_relaxed(&barriers.too_many)};
}

/* Looks at the clock after every so many barriers. When two looks follow each other in less than
 * this time, words are taken as HELD from then on, until there was none such for calm_ms. */
enum { BURST_NS = 10000000 };

static void bound_barriers(uint64_t made) {
  if (relock_tuning.barriers == 0 || made % relock_tuning.barriers != 0)
    return;
  const uint64_t now = relock_os->now_ns(), last = relock_load_relaxed(&looked_ns);
  relock_store_relaxed(&looked_ns, now);
  if (now - last >= BURST_NS)
    return;
  relock_store_relaxed(&calm_until_ns, now + 1000000ull * relock_tuning.calm_ms);
  if (relock_cas_relaxed(&relock_word_taken, RELOCK_WORD_HELD_FAST, RELOCK_WORD_HELD))
    relock_add_relaxed(&barriers.too_many, 1);
}

void relock_word_barrier(void) {
  bound_barriers(relock_add_relaxed(&barriers.made, 1) + 1);
  relock_os->barrier();
}

/* By a thread that is about to sleep for a word that was HELD. A process in which nobody does that
 * has releases that are a quarter dearer, until somebody does. */
static __attribute__((noinline)) void end_calm(void) {
  if (relock_os->now_ns() >= relock_load_relaxed(&calm_until_ns))
    relock_store_relaxed(&relock_word_taken, RELOCK_WORD_HELD_FAST);
}

int relock_word_release_slowly(uint32_t *word, bool wake) {
  /* Release: pairs with the acquire of whoever takes the word next. */
  if (relock_exchange_release(word, RELOCK_WORD_FREE) == RELOCK_WORD_PARKED || wake)
    relock_os->futex_wake(word, 1);
  return 0;
}

static const struct relock_served *served_by;

void relock_words_served_by(const struct relock_served *served) {
  relock_store_relaxed(&served_by, served);
}

bool relock_word_take_back(uint32_t *word, uint32_t served) {
  /* Acquire: pairs with the release that made the word SERVED, after served_by was set. */
  return relock_load_acquire(word) == served &&
         relock_load_relaxed(&served_by)->take_back(word, served);
}

bool relock_word_is_free(uint32_t *word) {
  /* Acquire: pairs with the release in relock_word_release(), and that which made it SERVED. */
  uint32_t found = relock_load_acquire(word);
  return found == RELOCK_WORD_FREE || (found >= RELOCK_WORD_SERVED &&
                                       !relock_load_relaxed(&served_by)->is_occupied(word, found));
}

bool relock_word_park(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                      const struct timespec *deadline, int *error) {
  /* Acquire: pairs with the release in relock_word_release(), and that which made it SERVED. */
  uint32_t found = relock_exchange_acquire(word, RELOCK_WORD_PARKED);
  if (found == RELOCK_WORD_FREE)
    return true;
  if (RELOCK_UNLIKELY(found >= RELOCK_WORD_SERVED))
    return relock_load_relaxed(&served_by)->inherit(word, found, wait, clock, deadline, error);
  if (found == RELOCK_WORD_HELD_FAST)
    relock_word_barrier(); /* a release that was half done has seen the mark, or is over */
  if (found == RELOCK_WORD_HELD && relock_barrier_works())
    end_calm();
  int result = relock_wait_park(wait, word, RELOCK_WORD_PARKED, clock, deadline);
  if (error)
    *error = result;
  return false;
}

bool relock_word_spin(uint32_t *word, struct relock_wait *wait) {
  struct relock_distances distances = relock_word_distances(wait);
  do
    if (relock_word_try(word))
      return true;
  while (relock_word_await_next_look(&distances, wait));
  return false;
}

int relock_word_wait(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                     const struct timespec *deadline) {
  if (relock_word_spin(word, wait))
    return 0;
  int error = 0;
  while (!relock_word_park(word, wait, clock, deadline, &error))
    if (error)
      return error;
  return 0;
}
