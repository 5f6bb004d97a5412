/* SPDX-License-Identifier: MIT
 *
 * Clusters of processors that share memory cheaply: NUMA nodes. RELOCK_CLUSTERS=N in the
 * environment divides the processors into N clusters instead, whatever the machine is like, so
 * that hierarchical locks can be tried on one that has a single node.
 */
#ifndef RELOCK_BASE_TOPOLOGY_H
#define RELOCK_BASE_TOPOLOGY_H

#include "thread.h"

enum { RELOCK_MAX_CLUSTERS = 16 }; /* nodes beyond share them */

/* The calling thread's cluster, below RELOCK_MAX_CLUSTERS; a hint, looked up now and then. */
uint32_t relock_cluster(struct relock_thread *self);

#endif
