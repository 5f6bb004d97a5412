/* SPDX-License-Identifier: MIT
 *
 * cohort: lock cohorting after Dice, Marathe and Shavit, "Lock cohorting: a general technique for
 * designing NUMA locks" (2012), over two simple locks: a CLH queue for each cluster, and one that
 * orders the clusters. Whoever has its turn passes the cluster's place in that order on to the
 * next waiter of its own cluster, up to a bound, so that lock and data stay in the cluster's
 * caches; only then to another cluster.
 *
 * A waiter is told by its predecessor in the cluster's queue, in the states of clhqueue.h
 *  - FIRST_OF_CLUSTER: it is to enter the order for its cluster;
 *  - FIRST_OF_ALL: its cluster is first in the order; it is to take the word.
 * A thread that finds no queue in its cluster is FIRST_OF_CLUSTER.
 *
 * Invariants: one thread per cluster is FIRST_OF_CLUSTER or FIRST_OF_ALL, and only that one, until
 * it tells its successor, touches the cluster's `place` and `passes`; one in all is FIRST_OF_ALL.
 *
 * Departures from the source
 *  - Both queues are in front of the exclusion word. A thread passes its turn on, or leaves the
 *    order, as soon as it has the word and not when it unlocks, since an unlock knows the word
 *    only. So nothing but the word is held during a section, locks nest in any order, and any
 *    thread may unlock. What is passed on is the right to be the next, which keeps the lock in the
 *    cluster just as well: the next waits for the word alone.
 *  - The order need not be thread-oblivious by itself; a CLH node may be left behind by anyone.
 *  - While the first of the order sleeps, arrivals may take the word (clusters.h).
 *
 * Progress and fairness: first come, first served within a cluster, and among clusters in the
 * order in which they began to wait; a cluster with waiters waits for at most PASSES + 1 sections
 * of each other one, and what arrivals take in a millisecond for each. Memory: an annex of 4 KB
 * per mutex from its first contention on, a node of 64 bytes for each waiter and each waiting
 * cluster. A waiter spins on its predecessor's node, on its own cluster's memory unless it is the
 * cluster's first. A preempted waiter delays all only while it is the first of the order and
 * spinning, its own cluster while it is the first of that; asleep, it is passed. A thread that
 * dies holding the lock leaves the word taken for ever.
 */
#include "algorithm.h"
#include "clhqueue.h"
#include "clusters.h"
#include "queue.h"

/* A guess of the size that is usual for this bound: a handover between sockets, some ten times as
 * dear as one within, is then a small part of a cluster's turn. */
enum { PASSES = 64 };

enum { FIRST_OF_ALL = RELOCK_HEAD, FIRST_OF_CLUSTER = RELOCK_DONE };

/* Waits in the cluster's queue and, if need be, in the order; returns with the word. */
static void take_word(relock_mutex_t *mutex, struct relock_clusters *clusters,
                      struct relock_cluster *cluster, struct relock_thread *self,
                      struct relock_request *node, struct relock_wait *wait) {
  struct relock_request *previous = relock_clh_append(&cluster->tail, node);
  if (previous && relock_clh_await(previous, self, wait) == FIRST_OF_ALL) {
    relock_queue_take_word(mutex, wait);
    return;
  }
  cluster->place = relock_order_take_word(mutex, clusters, self, wait);
  cluster->passes = 0;
}

/* The owner of the word lets the next one be first: of its cluster, or another cluster's. */
static void pass_on(relock_mutex_t *mutex, struct relock_clusters *clusters,
                    struct relock_cluster *cluster, struct relock_thread *self,
                    struct relock_request *node) {
  const uint32_t *first = NULL, *next = NULL;
  bool alone = relock_load_relaxed(&cluster->tail) == (uintptr_t)node;
  struct relock_request *place = cluster->place;
  if (place && !alone && cluster->passes < PASSES) {
    cluster->passes++;
    first = relock_queue_make_head(mutex, node);
  } else {
    if (place && relock_order_leave(mutex, clusters, self, place))
      first = relock_queue_make_head(mutex, place);
    if (!relock_clh_leave(&cluster->tail, node, self))
      next = relock_queue_grant(node, FIRST_OF_CLUSTER);
  }
  if (first)
    relock_os->futex_wake(first, 1);
  if (next)
    relock_os->futex_wake(next, 1);
}

static void cohort_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_clusters *clusters = relock_annex(mutex);
  struct relock_cluster *cluster = clusters ? &clusters->cluster[relock_cluster(self)] : NULL;
  if (!clusters || !relock_clusters_pass(mutex, clusters, cluster, &wait)) {
    struct relock_request *node = clusters ? relock_clh_node(self) : NULL;
    if (node) {
      take_word(mutex, clusters, cluster, self, node, &wait);
      pass_on(mutex, clusters, cluster, self, node);
    } else { /* no memory */
      relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
    }
  }
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_cohort = {
    .name = "cohort", .lock = cohort_lock, .has_annex = true};
