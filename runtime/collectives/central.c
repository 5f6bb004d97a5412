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

void relock_central_set_up(struct relock_barrier_node *node, uint32_t count) {
  (void)count;
  node->arrived = 0;
}

bool relock_central_is_busy(struct relock_barrier_node *node, uint32_t count) {
  return relock_load_relaxed(&node->arrived) % count != 0;
}

uint32_t relock_central_arrive(struct relock_barrier_node *node, uint32_t count, uint32_t first,
                               uint32_t *end) {
  /* Acquire and release: pairs with itself, from arrival to arrival. */
  const uint64_t ticket = relock_add_acq_rel(&node->arrived, 1);
  *end = first + RELOCK_BARRIER_ROUND * (uint32_t)(ticket / count + 1);
  return count - 1 - (uint32_t)(ticket % count);
}

static bool central_wait(struct relock_barrier_node *node, uint32_t count, uint32_t first) {
  uint32_t end;
  if (relock_central_arrive(node, count, first, &end) == 0) {
    relock_barrier_release(node, end);
    return true;
  }
  relock_barrier_await(node, end, count);
  return false;
}

const struct relock_barrier_algorithm relock_barrier_central = {
    .name = "central",
    .nodes = relock_central_nodes,
    .set_up = relock_central_set_up,
    .wait = central_wait,
    .is_busy = relock_central_is_busy,
};
