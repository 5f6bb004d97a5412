/* SPDX-License-Identifier: MIT
 *
 * What `backoff` has in common with `central`, see central.c.
 */
#ifndef RELOCK_COLLECTIVES_CENTRAL_H
#define RELOCK_COLLECTIVES_CENTRAL_H

#include "barrier.h"

uint32_t relock_central_nodes(uint32_t count);
uint32_t relock_central_places(uint32_t count);
void relock_central_set_up(relock_barrier_t *barrier);
bool relock_central_is_busy(const relock_barrier_t *barrier);

/* What a thread knows that has arrived; it does not look at the barrier any more. */
struct relock_arrival {
  struct relock_barrier_node *node;
  uint32_t count, end; /* when the round is over */
  uint32_t missing;    /* threads of the round that have not come yet */
};
struct relock_arrival relock_central_arrive(const relock_barrier_t *barrier);

#endif
