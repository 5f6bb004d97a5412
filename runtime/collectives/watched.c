/* SPDX-License-Identifier: MIT
 *
 * watched: central, where a race detector looks on (base/annotate.h); no program chooses it. The
 * detector is told that what threads did before they arrived in a round comes before what any of
 * them does afterwards, and of nothing else: a fast thread arrives in the next round before a slow
 * one has left this one, and what it did meanwhile is a race with what the slow one does then.
 *
 * Protocol: the round is known before the arrival, since both happen under a guard. Two rounds that
 * follow each other have names of their own, words of the node.
 *
 * Invariants, progress and memory: as central. The names are never forgotten: a thread that leaves
 * late may use them after the node has become another barrier's. That orders more than there is,
 * never less, as does a thread that comes too many.
 */
#include "../base/annotate.h"
#include "../base/guard.h"
#include "central.h"

static bool watched_wait(const relock_barrier_t *barrier) {
  struct relock_barrier_line *line = &barrier->relock_private.nodes->line;
  relock_guard_take(RELOCK_GUARD_BARRIERS);
  const uint64_t round = relock_load_relaxed(&line->value) / barrier->relock_private.count;
  const void *name = round % 2 ? (const void *)&line->next_free : &line->value;
  relock_annotate_before(name);
  const struct relock_arrival arrival = relock_central_arrive(barrier);
  relock_guard_release(RELOCK_GUARD_BARRIERS);
  if (arrival.missing == 0)
    relock_barrier_release(&arrival.node->released, arrival.end - RELOCK_BARRIER_ROUND,
                           arrival.end);
  else
    relock_barrier_await(&arrival.node->released, arrival.end, arrival.count);
  relock_annotate_after(name);
  return arrival.missing == 0;
}

const struct relock_barrier_algorithm relock_barrier_watched = {
    .name = "watched",
    .nodes = relock_central_nodes,
    .places = relock_central_places,
    .set_up = relock_central_set_up,
    .wait = watched_wait,
    .is_busy = relock_central_is_busy,
};
