/* SPDX-License-Identifier: MIT
 *
 * Calibration and accounting of waits.
 */
#include "wait.h"

#include "class.h"
#include "counters.h"
#include "options.h"
#include "thread.h"

uint32_t relock_calibrated_spins = RELOCK_UNCALIBRATED, relock_calibrated_turns;
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

uint32_t relock_wait_calibrate(void) {
  const unsigned cpus = relock_os->cpus();
  relock_store_relaxed(&processors, cpus);
  relock_store_relaxed(&relock_calibrated_turns, cpus == 1 ? 0 : calibrate(turn_often, TURNS));
  /* A pause takes 10 to 150 cycles depending on the processor. */
  const uint32_t spins = cpus == 1 ? 0 : calibrate(pause_often, PAUSES);
  relock_store_relaxed(&relock_calibrated_spins, spins);
  return spins;
}

/* Reading the clock costs a tenth of a request to a server. So a thread looks some eight times in a
 * turn: after as many waits as there were in an eighth of its last one, within these bounds. */
enum { LOOKS = 8, LEAST_WAITS = 8, MOST_WAITS = 64 };

static void adjust_looks(struct relock_thread *self) {
  const uint32_t waits = (self->turn_step + 1) * self->turn_looks / LOOKS;
  self->turn_step = waits < LEAST_WAITS ? LEAST_WAITS : waits > MOST_WAITS ? MOST_WAITS : waits;
  self->turn_looks = 0;
}

/* Whoever is preempted in an operation on a lock waits for a turn of all others: 16 time slices of
 * 4 ms with 32 threads on 2 processors. Shorter turns shorten that in proportion.
 *
 * The end of a turn costs some 2 microseconds. Nobody waits for a client that does not run, as they
 * do for one that has a lock or a place in a queue. So clients' turns are longer, a hundred times
 * that, unless there are so many threads that a turn of each would last too long. */
enum { CLIENT_TURN = 4, CLIENT_ROUND_US = 6400 };

static uint32_t turn_us(bool is_client, uint32_t threads) {
  const uint32_t least = relock_tuning.share_us, most = CLIENT_TURN * least;
  if (!is_client)
    return least;
  const uint32_t part = CLIENT_ROUND_US / threads;
  return part < least ? least : part > most ? most : part;
}

void relock_wait_look(struct relock_thread *self, bool is_client) {
  const uint32_t threads = relock_threads_live();
  self->turn_waits = self->turn_step;
  self->turn_looks++;
  if (threads <= relock_load_relaxed(&processors)) {
    self->turn_looks = 0;
    return;
  }
  if (relock_os->now_ns() - self->turn_began < 1000ull * turn_us(is_client, threads))
    return;
  adjust_looks(self);
  self->turn_waits = self->turn_step;
  relock_os->yield();
  self->turn_began = relock_os->now_ns();
}

/* Of so many threads for each that works one sleeps all the time; and the first waits for the
 * others to end. Guesses. */
enum { SLEEPERS = 8 };

/* On one processor, where nobody spins, nothing depends on how many threads there are. */
bool relock_wait_has_room(void) {
  const uint32_t most = relock_load_relaxed(&processors);
  return most > 1 && relock_threads_live() <= most + most / SLEEPERS + 1;
}

uint32_t relock_wait_running(void) {
  const uint32_t most = relock_load_relaxed(&processors);
  return most == 1 || most < relock_threads_live() ? most : relock_threads_live();
}

uint32_t relock_wait_spins_among_others(void) {
  const uint32_t spins = relock_wait_spins();
  return spins * relock_wait_running();
}

uint32_t relock_wait_spins_in_queue(void) {
  const uint32_t spins = relock_wait_spins();
  return relock_wait_has_room() ? relock_wait_spins_among_others() : spins;
}

uint32_t relock_wait_spins_for(uint32_t threads) {
  const uint32_t spins = relock_wait_spins();
  return threads <= relock_load_relaxed(&processors) ? spins : 0;
}

enum { CROWD = 2 }; /* threads for each processor. A guess. */

bool relock_wait_is_crowded(void) {
  return relock_threads_live() > CROWD * relock_load_relaxed(&processors);
}

void relock_wait_begin(struct relock_wait *wait, struct relock_thread *self,
                       const relock_mutex_t *mutex) {
  wait->spins = relock_wait_spins();
  wait->parked = false;
  wait->self = self;
  wait->lock_class = mutex ? relock_class_of(mutex) : NULL;
  if (self && mutex) {
    wait->mutex = mutex;
    wait->outer = self->waits;
    relock_keep_order(); /* whole for a debugger that stops this thread */
    self->waits = wait;
  }
  if (self && relock_wait_counts(self))
    relock_wait_look(self, false);
}

int relock_wait_park(struct relock_wait *wait, uint32_t *word, uint32_t value, clockid_t clock,
                     const struct timespec *deadline) {
  wait->parked = true;
  return relock_os->futex_wait(word, value, clock, deadline);
}

void relock_wait_give_up(const struct relock_wait *wait) {
  if (wait->self && wait->lock_class)
    wait->self->waits = wait->outer;
}

void relock_wait_end(const struct relock_wait *wait) {
  if (!wait->lock_class)
    return;
  relock_wait_give_up(wait);
  const uint32_t index = wait->lock_class->relock_index;
  relock_stats_count(wait->self, index, RELOCK_COUNT_CONTENDED, 1);
  if (wait->parked)
    relock_stats_count(wait->self, index, RELOCK_COUNT_PARKED, 1);
}
