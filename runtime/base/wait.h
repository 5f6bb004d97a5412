/* SPDX-License-Identifier: MIT
 *
 * The one waiting policy: look again at once for a bounded time, then park in a futex. Nobody
 * spins on one processor. Where threads outnumber processors, a thread that has kept its
 * processor for a while offers it to others before it begins to wait.
 *
 *   relock_wait_begin(&wait, mutex);
 *   while (!condition)
 *     if (!relock_wait_again(&wait))
 *       park;
 *   relock_wait_end(&wait);
 */
#ifndef RELOCK_BASE_WAIT_H
#define RELOCK_BASE_WAIT_H

#include "arch.h"
#include "atomic.h"
#include "os.h"
#include "thread.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

struct relock_wait {
  uint32_t spins; /* left */
  bool parked;
  struct relock_thread *self;       /* to count for, in its record */
  const relock_class_t *lock_class; /* of the mutex, which may be gone at the end; null: no count */
  const relock_mutex_t *mutex;      /* for the debugger, which finds it by the record, ... */
  const struct relock_wait *outer;  /* and the one in whose section this one is */
};

/* Starts a wait of this thread, whose record may be null, for this mutex; null: not for a mutex,
 * not counted. */
void relock_wait_begin(struct relock_wait *wait, struct relock_thread *self,
                       const relock_mutex_t *mutex);

/* Every so many waits of a thread it is time for a look at whether its turn is over. */
static inline bool relock_wait_counts(struct relock_thread *self) {
  if (RELOCK_LIKELY(self->turn_waits > 0)) {
    self->turn_waits--;
    return false;
  }
  return true;
}

/* That look: offers the processor to others if threads outnumber processors and this one has kept
 * its own for a while, which is longer for a server's client. relock_wait_begin() does it, too. */
void relock_wait_look(struct relock_thread *self, bool is_client);

/* True after a pause: look again. False: it is time to park. */
static inline bool relock_wait_again(struct relock_wait *wait) {
  if (wait->spins == 0)
    return false;
  wait->spins -= relock_pauses(wait->spins);
  return true;
}

/* Parks on *word while it has that value. ETIMEDOUT or 0: look again. */
int relock_wait_park(struct relock_wait *wait, uint32_t *word, uint32_t value, clockid_t clock,
                     const struct timespec *deadline);

/* Whether there are so many threads for the processors that whoever spins keeps others from
 * running. Some threads of most programs sleep all the time. */
bool relock_wait_is_crowded(void);

/* Ends the wait and counts it, or does not. */
void relock_wait_end(const struct relock_wait *wait);
void relock_wait_give_up(const struct relock_wait *wait);

/* Measured by relock_wait_calibrate(), which returns the first. */
#define RELOCK_UNCALIBRATED UINT32_MAX
extern uint32_t relock_calibrated_spins RELOCK_HIDDEN, relock_calibrated_turns RELOCK_HIDDEN;
uint32_t relock_wait_calibrate(void);

/* Pauses that fill the spinning part of a wait on this machine; 0 on one processor. */
static inline uint32_t relock_wait_spins(void) {
  const uint32_t spins = relock_load_relaxed(&relock_calibrated_spins);
  return RELOCK_LIKELY(spins != RELOCK_UNCALIBRATED) ? spins : relock_wait_calibrate();
}

/* The same for a thread that competes with others: each of those that can run at a time has a
 * section meanwhile. As long as sections are shorter than what parking costs, a thread does not
 * park while it could go on, and few that look for the word now and then hand it on sooner than a
 * sleeper wakes up. */
uint32_t relock_wait_spins_among_others(void);

/* The same for a place in a queue, where a thread waits for a section of each that is before it.
 * Only the plain number where threads outnumber processors: whoever is before it may not run. */
uint32_t relock_wait_spins_in_queue(void);

/* The plain number for one of so many threads that wait for each other; 0 where there is no
 * processor for each of them. */
uint32_t relock_wait_spins_for(uint32_t threads);

/* Whether there is a processor for each thread of the program, but for a few, which some that sleep
 * make up for. Valid after relock_wait_spins(). */
bool relock_wait_has_room(void);

/* How many threads of the program can run at a time. Valid after relock_wait_spins(). */
uint32_t relock_wait_running(void);

/* How many turns fill the spinning part; 0 on one processor, and before relock_wait_spins(). */
static inline uint32_t relock_wait_most_turns(void) {
  return relock_load_relaxed(&relock_calibrated_turns);
}

#endif
