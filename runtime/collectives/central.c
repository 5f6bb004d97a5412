/* SPDX-License-Identifier: MIT
 *
 * central: one counter and one word to wait for. Source: Reble's thesis (2015), 3.5.2 ("central"),
 * there with two counters that the last thread of a round resets, which a thread that comes too
 * many would upset, and with waiters that look at the counter itself.
 *
 * Protocol: a thread draws a ticket by one fetch-and-add. Tickets are never reset: ticket t is of
 * round t / count, and the last of its round if t + 1 is a multiple of count. That one releases the
 * round; the others wait for it in another line, which arrivals leave alone.
 *
 *   arrived:  ... r*count, r*count + 1, ...  (r+1)*count - 1 | next round
 *             waits for round r              releases it
 *
 * Invariants: those of barrier.h. A round may be complete before the round before it is released,
 * when more threads come than one takes; then the later release stands for both.
 *
 * Cost: one atomic operation of each thread on one line, one transfer of the other one to each
 * that waits. Progress: the last arrival and what it does then never wait. A preempted thread
 * delays its round, and no other thread.
 */
#include "central.h"

uint32_t relock_central_nodes(uint32_t count) {
  (void)count;
  return 1;
}

uint32_t relock_central_places(uint32_t count) {
  (void)count;
  return 0;
}

void relock_central_set_up(relock_barrier_t *barrier) {
  barrier->relock_private.nodes->line.value = 0;
}

bool relock_central_is_busy(const relock_barrier_t *barrier) {
  const uint64_t arrived = relock_load_relaxed(&barrier->relock_private.nodes->line.value);
  return arrived % barrier->relock_private.count != 0;
}

struct relock_arrival relock_central_arrive(const relock_barrier_t *barrier) {
  const uint32_t count = barrier->relock_private.count, first = barrier->relock_private.first;
  struct relock_barrier_node *node = barrier->relock_private.nodes;
  /* Acquire and release: pairs with itself, from arrival to arrival. */
  const uint64_t ticket = relock_add_acq_rel(&node->line.value, 1);
  const uint64_t round = ticket / count;
  return (struct relock_arrival){.node = node,
                                 .count = count,
                                 .end = first + RELOCK_BARRIER_ROUND * (uint32_t)(round + 1),
                                 .missing = count - 1 - (uint32_t)(ticket - round * count)};
}

static bool central_wait(const relock_barrier_t *barrier) {
  const struct relock_arrival arrival = relock_central_arrive(barrier);
  if (arrival.missing == 0)
    relock_barrier_release(&arrival.node->released, arrival.end - RELOCK_BARRIER_ROUND,
                           arrival.end);
  else
    relock_barrier_await(&arrival.node->released, arrival.end, arrival.count);
  return arrival.missing == 0;
}

const struct relock_barrier_algorithm relock_barrier_central = {
    .name = "central",
    .nodes = relock_central_nodes,
    .places = relock_central_places,
    .set_up = relock_central_set_up,
    .wait = central_wait,
    .is_busy = relock_central_is_busy,
};
