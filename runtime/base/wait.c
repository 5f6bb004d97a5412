/* SPDX-License-Identifier: MIT
 *
 * Calibration and accounting of waits.
 */
#include "wait.h"

#include "class.h"
#include "options.h"
#include "stats.h"
#include "thread.h"

#define UNCALIBRATED UINT32_MAX
static uint32_t calibrated_spins = UNCALIBRATED, calibrated_turns;
static uint32_t processors; /* valid once calibrated */

enum { PAUSES = 32, TURNS = 1024, TRIALS = 5 };

static void pause_often(void) {
  for (int i = 0; i < PAUSES; i++)
    relock_pause();
}

static void turn_often(void) { relock_wait_turns(TURNS); }

/* How often fills the spinning part of a wait, if `wait` does it `times` times. The shortest of
 * several short measurements is the one that nothing interrupted. */
static uint32_t calibrate(void (*wait)(void), uint32_t times) {
  uint64_t shortest = UINT64_MAX;
  for (int trial = 0; trial < TRIALS; trial++) {
    uint64_t start = relock_os->now_ns();
    wait();
    uint64_t elapsed = relock_os->now_ns() - start;
    if (elapsed < shortest)
      shortest = elapsed;
  }
  if (shortest < PAUSES) /* the clock is too coarse to tell */
    shortest = times;
  return (uint32_t)((uint64_t)relock_tuning.spin_ns * times / shortest) + 1;
}

uint32_t relock_wait_spins(void) {
  uint32_t spins = relock_load_relaxed(&calibrated_spins);
  if (RELOCK_UNLIKELY(spins == UNCALIBRATED)) {
    unsigned cpus = relock_os->cpus();
    relock_store_relaxed(&processors, cpus);
    relock_store_relaxed(&calibrated_turns, cpus == 1 ? 0 : calibrate(turn_often, TURNS));
    /* A pause takes 10 to 150 cycles depending on the processor. */
    spins = cpus == 1 ? 0 : calibrate(pause_often, PAUSES);
    relock_store_relaxed(&calibrated_spins, spins);
  }
  return spins;
}

uint32_t relock_wait_most_turns(void) { return relock_load_relaxed(&calibrated_turns); }

/* Reading the clock costs a tenth of a request to a server. */
enum { WAITS_PER_LOOK = 8 };

/* Whoever is preempted in an operation on a lock waits for a turn of all others: 16 time slices of
 * 4 ms with 32 threads on 2 processors. Shorter turns shorten that in proportion. */
void relock_wait_share(struct relock_thread *self) {
  if (++self->turn_waits % WAITS_PER_LOOK != 0 ||
      relock_threads_live() <= relock_load_relaxed(&processors))
    return;
  uint64_t now = relock_os->now_ns();
  if (now - self->turn_began < 1000ull * relock_tuning.share_us)
    return;
  relock_os->yield();
  self->turn_began = relock_os->now_ns();
}

void relock_wait_begin(struct relock_wait *wait, struct relock_thread *self,
                       const relock_mutex_t *mutex) {
  wait->spins = relock_wait_spins();
  wait->parked = false;
  wait->self = self;
  wait->lock_class = mutex ? relock_class_of(mutex) : NULL;
  if (self)
    relock_wait_share(self);
}

int relock_wait_park(struct relock_wait *wait, uint32_t *word, uint32_t value, clockid_t clock,
                     const struct timespec *deadline) {
  wait->parked = true;
  return relock_os->futex_wait(word, value, clock, deadline);
}

void relock_wait_end(const struct relock_wait *wait) {
  if (!wait->lock_class)
    return;
  const uint32_t index = wait->lock_class->relock_index;
  relock_stats_count(wait->self, index, RELOCK_COUNT_CONTENDED, 1);
  if (wait->parked)
    relock_stats_count(wait->self, index, RELOCK_COUNT_PARKED, 1);
}
