/* SPDX-License-Identifier: MIT
 *
 * What `backoff` has in common with `central`, see central.c.
 */
#ifndef RELOCK_COLLECTIVES_CENTRAL_H
#define RELOCK_COLLECTIVES_CENTRAL_H

#include "barrier.h"

uint32_t relock_central_nodes(uint32_t count);
void relock_central_set_up(struct relock_barrier_node *node, uint32_t count);
bool relock_central_is_busy(struct relock_barrier_node *node, uint32_t count);

/* Returns how many threads are missing in the caller's round, which is over at *end. */
uint32_t relock_central_arrive(struct relock_barrier_node *node, uint32_t count, uint32_t first,
                               uint32_t *end);

#endif
