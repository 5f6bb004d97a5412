/* SPDX-License-Identifier: MIT
 *
 * What glibc 2.25 and later do, without what is for processes, and for counters that are about to
 * overflow: a thread counts itself in, sleeps at once unless it is the last one of its round, and
 * counts itself out, by which destruction knows when all have left. All of it is in one line.
 */
#include "pthread_barrier.h"

#include "../base/atomic.h"
#include "../base/os.h"

#include <limits.h>
#include <time.h>

bool sim_pthread_barrier_wait(struct sim_pthread_barrier *barrier) {
  /* Acquire and release: pairs with itself, from arrival to arrival. */
  const uint32_t in = relock_add_acq_rel(&barrier->in, 1) + 1;
  const uint32_t own_round = in - in % barrier->count;
  uint32_t round = relock_load_relaxed(&barrier->current_round);
  while (round + barrier->count <= in) {
    /* Release: pairs with the acquire below. */
    if (relock_cas_release(&barrier->current_round, round, own_round)) {
      round = own_round;
      relock_os->futex_wake(&barrier->current_round, INT_MAX);
      break;
    }
    round = relock_load_relaxed(&barrier->current_round);
  }
  while (in > round) {
    relock_os->futex_wait(&barrier->current_round, round, CLOCK_MONOTONIC, NULL);
    /* Acquire: pairs with the release above. */
    round = relock_load_acquire(&barrier->current_round);
  }
  /* Acquire and release: pairs with itself. */
  relock_add_acq_rel(&barrier->out, 1);
  return in % barrier->count == 0;
}
