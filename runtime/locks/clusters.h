/* SPDX-License-Identifier: MIT
 *
 * What the hierarchical queue locks share: a queue of its own for each cluster of processors
 * (topology.h), and the order, a CLH queue (clhqueue.h) of those that stand for their cluster. All
 * lie in the mutex's annex. Only the first of the order waits for the word, and leaves the order
 * when it has the word or, if it combines, when it releases it.
 *
 * As in queue.h, arrivals may take a free word past the queues only while the first of the order
 * sleeps, for a millisecond at most, and when there is none: `open` is 1 then. It is a hint: a
 * thread that opens when it leaves an empty order may be a moment late, and the next one that is
 * first closes again, at the latest when it has the word or has slept for that long.
 */
#ifndef RELOCK_LOCKS_CLUSTERS_H
#define RELOCK_LOCKS_CLUSTERS_H

#include "../base/annex.h"
#include "../base/thread.h"
#include "../base/topology.h"
#include "../base/wait.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* Two lines: processors fetch them in pairs. */
struct relock_cluster {
  _Alignas(2 * RELOCK_CACHE_LINE) uintptr_t tail; /* of the cluster's own queue */
  struct relock_request *place;                   /* cohort: the cluster's node in the order */
  uint32_t passes;                                /* cohort: how often it was passed on */
};

struct relock_clusters {
  _Alignas(2 * RELOCK_CACHE_LINE) uintptr_t order; /* its tail; 0: empty */
  struct relock_cluster cluster[RELOCK_MAX_CLUSTERS];
};
_Static_assert(sizeof(struct relock_clusters) <= RELOCK_ANNEX_SIZE, "fits into an annex");

/* An arrival waits a bounded time for the word beside an order whose first sleeps, or a cluster's
 * queue whose first does: without the latter, all but a few threads come to sleep there. True: it
 * has the word. */
bool relock_clusters_pass(relock_mutex_t *mutex, const struct relock_clusters *clusters,
                          const struct relock_cluster *own, struct relock_wait *wait);

/* Enters the order with a node, or with a chain that ends with it, and becomes its first. */
void relock_order_enter(relock_mutex_t *mutex, struct relock_clusters *clusters,
                        struct relock_thread *self, struct relock_request *last,
                        struct relock_wait *wait);

/* The owner of the word leaves the order as its first. True: its node is to be granted HEAD, by
 * relock_queue_make_head(), now or after the word is released. */
bool relock_order_leave(relock_mutex_t *mutex, struct relock_clusters *clusters,
                        struct relock_thread *self, struct relock_request *node);

/* Enters with a node of its own and takes the word. Returns the node; null: there was no memory,
 * and the word was taken in competition with everybody. */
struct relock_request *relock_order_take_word(relock_mutex_t *mutex,
                                              struct relock_clusters *clusters,
                                              struct relock_thread *self, struct relock_wait *wait);

#endif
