/* SPDX-License-Identifier: MIT
 *
 * The exclusion word: whoever runs under a mutex, be it a holder, a combiner or a server, owns
 * its word. It is also a futex.
 *
 *             take (CAS)                        wait (exchange PARKED)
 *   FREE ------------------> HELD_FAST or HELD ------------------------> PARKED
 *    ^  \                      |                                           |  \__ wait
 *    |   \ wait (exchange PARKED, reads FREE): taken                       |
 *    |    `---------------------------------------------------------------^|
 *    |          release        |           release, wakes one              |
 *    `-------------------------+-------------------------------------------'
 *
 * Invariant: if a thread sleeps on the word, the word is PARKED, or a wake-up is on its way to
 * one of the sleepers, or a thread that is awake is about to set PARKED again; a woken thread
 * sets it when it takes the word or sleeps, as it cannot know whether there are more.
 *
 * The cheap release. HELD_FAST is released by one decrement without a LOCK prefix, a quarter
 * cheaper than an exchange, which can overwrite a PARKED that a waiter sets at that moment.
 * Therefore the waiter that replaced HELD_FAST makes every thread pass a barrier (membarrier(2))
 * before it relies on its mark: after that the word is either released, and it sees that, or its
 * mark is seen by the release. The kernel's barrier costs microseconds, but only the first sleeper
 * after an acquisition that found nobody asleep pays it. The technique is the asymmetric
 * synchronisation of Dice, Huang and Yang, "Asymmetric Dekker synchronization" (2001). Where the
 * kernel has no such barrier, and where the release is not one instruction, words are HELD.
 *
 * A barrier interrupts every processor that the process runs on. So there is a bound on their rate
 * (`barriers` and `calm_ms`, tunables.def): where it is passed, words are taken as HELD for a
 * while, and servers keep few. Which release a word needs is read from the word itself: HELD_FAST
 * is changed by its owner, and by waiters to PARKED only, who make the barrier because they have
 * found HELD_FAST. So words of both kinds may be there at any time.
 *
 * SERVED and above: a server may run sections under the word without taking it, and whoever else
 * wants it takes it back first, see server/ownership.c. Then it is as if it had been FREE.
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

enum {
  RELOCK_WORD_FREE,
  RELOCK_WORD_HELD_FAST,
  RELOCK_WORD_HELD,
  RELOCK_WORD_PARKED,
  RELOCK_WORD_SERVED, /* by server 0; one more for each other */
};

/* What words are taken as. HELD_FAST where this machine can release by a decrement, unless there
 * were too many barriers lately, else HELD. */
extern uint32_t relock_word_taken RELOCK_HIDDEN;

/* Whether relock_word_barrier() may be called: constant, but in a forked child. */
extern uint32_t relock_word_has_barrier RELOCK_HIDDEN;

/* How whoever makes words SERVED parts with them. */
struct relock_served {
  /* Takes the word, which was found SERVED, unless a section is under it. */
  bool (*take_back)(uint32_t *word, uint32_t served);
  /* The caller has replaced SERVED: waits for a section that is still under the word, and owns it
   * then. False: *error, if not null, is ETIMEDOUT, and the word is the server's again. */
  bool (*inherit)(uint32_t *word, uint32_t served, struct relock_wait *wait, clockid_t clock,
                  const struct timespec *deadline, int *error);
  /* Whether a section is under the word, which was found SERVED. */
  bool (*is_occupied)(uint32_t *word, uint32_t served);
};

/* Before any word is SERVED. */
void relock_words_served_by(const struct relock_served *served);

/* Takes a word back that was found SERVED, unless a section is under it. */
bool relock_word_take_back(uint32_t *word, uint32_t served);

/* Whether nobody is under the word: FREE, or SERVED without a section. */
bool relock_word_is_free(uint32_t *word);

static inline bool relock_barrier_works(void) {
  return RELOCK_LIKELY(relock_load_relaxed(&relock_word_has_barrier) != 0);
}

/* Whether words may be left so that whoever wants them has to make a barrier. */
static inline bool relock_word_may_cost_barriers(void) {
  return !relock_barrier_works() ||
         relock_load_relaxed(&relock_word_taken) == RELOCK_WORD_HELD_FAST;
}

/* Every thread of the process has passed a barrier. Counted, for the bound. */
void relock_word_barrier(void);

/* How many there were in this process, and how often there were too many. */
struct relock_barriers {
  uint64_t made, too_many;
};
struct relock_barriers relock_word_barriers(void);

/* Takes a word that was found FREE. */
static inline bool relock_word_take_free(uint32_t *word) {
  uint32_t taken = relock_load_relaxed(&relock_word_taken);
  if (relock_is_alone()) {
    relock_store_relaxed(word, taken);
    return true;
  }
  /* Acquire: pairs with the release in relock_word_release(). */
  return relock_cas_acquire(word, RELOCK_WORD_FREE, taken);
}

static inline bool relock_word_try(uint32_t *word) {
  uint32_t found = relock_load_relaxed(word);
  if (found != RELOCK_WORD_FREE)
    return RELOCK_UNLIKELY(found >= RELOCK_WORD_SERVED) && relock_word_take_back(word, found);
  return relock_word_take_free(word);
}

/* Releases a word and wakes a sleeper: if the word is PARKED, or in any case. Returns 0, as
 * relock_word_release() does: for a caller whose last step and answer it is. */
int relock_word_release_slowly(uint32_t *word, bool wake);

/* Nothing but the address is used after the release: the next owner may free the word. A
 * decrement of PARKED, which has come since the look, leaves the word taken, and a sleeper perhaps.
 */
static inline int relock_word_release(uint32_t *word) {
  /* Release: pairs with the acquire of whoever takes the word next. */
  bool fast = RELOCK_LIKELY(relock_load_relaxed(word) == RELOCK_WORD_HELD_FAST);
  if (RELOCK_UNLIKELY(!fast || relock_owner_decrement(word) != RELOCK_WORD_FREE))
    return relock_word_release_slowly(word, fast);
  return 0;
}

/* Looks at the word at growing distances until it is free and the caller's, or the wait's spins
 * are used up. The distances let the owner, and whoever follows, work on their data meanwhile
 * without losing the word's line to lookers. Not for a thread that was woken from its sleep on the
 * word: it has to mark it for other sleepers. */
bool relock_word_spin(uint32_t *word, struct relock_wait *wait);

/* Those distances, for whoever looks for a word on conditions of its own: they double, up to a part
 * of the wait. */
struct relock_distances {
  uint32_t next, longest;
};
static inline struct relock_distances relock_word_distances(const struct relock_wait *wait) {
  enum { PART = 6 };
  return (struct relock_distances){1, wait->spins / PART + 1};
}
/* True: it is time to look again. False: the wait's spins are used up. */
static inline bool relock_word_await_next_look(struct relock_distances *distances,
                                               struct relock_wait *wait) {
  for (uint32_t i = 0; i < distances->next; i++)
    if (!relock_wait_again(wait))
      return false;
  distances->next *= 2;
  if (distances->next > distances->longest)
    distances->next = distances->longest;
  return true;
}

/* Takes the word, competing with everybody. 0, or ETIMEDOUT after a deadline that is not null. */
int relock_word_wait(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                     const struct timespec *deadline);

/* One round of a wait for a word that is to be slept for: marks the word, and sleeps while it is
 * marked. True: it was free and is now the caller's. *error, if not null: 0, or ETIMEDOUT if the
 * word had the mark when the deadline passed. */
bool relock_word_park(uint32_t *word, struct relock_wait *wait, clockid_t clock,
                      const struct timespec *deadline, int *error);

/* Decides between HELD_FAST and HELD; at start and in a forked child. */
void relock_word_start(void);

#endif
