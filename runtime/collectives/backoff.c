/* SPDX-License-Identifier: MIT
 *
 * backoff: central, whose threads stay away for a while before they look. Source: Reble's thesis
 * (2015), 2.3.6 and 3.5.3 ("quantified" back-off), which prints no numbers: here a thread that has
 * found m threads missing stays away for as long as m transfers of a cache line take.
 *
 * There the threads spin on the counter itself, in memory that no cache holds, and each look delays
 * an arrival. Here the looks go to a line of their own, and find it in the own cache; what is saved
 * is that a line is taken away from fewer threads when the round is released.
 *
 * Invariants, progress and memory: as central.
 */
#include "central.h"

static bool backoff_wait(const relock_barrier_t *barrier) {
  const struct relock_arrival arrival = relock_central_arrive(barrier);
  if (arrival.missing == 0) {
    relock_barrier_release(&arrival.node->released, arrival.end - RELOCK_BARRIER_ROUND,
                           arrival.end);
    return true;
  }
  relock_barrier_back_off(arrival.missing, arrival.count);
  relock_barrier_await(&arrival.node->released, arrival.end, arrival.count);
  return false;
}

const struct relock_barrier_algorithm relock_barrier_backoff = {
    .name = "backoff",
    .nodes = relock_central_nodes,
    .places = relock_central_places,
    .set_up = relock_central_set_up,
    .wait = backoff_wait,
    .is_busy = relock_central_is_busy,
};
