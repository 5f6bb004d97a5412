/* SPDX-License-Identifier: MIT
 *
 * hclh: the hierarchical CLH lock of Luchangco, Nussbaum and Shavit, "A hierarchical CLH queue
 * lock" (2006). Waiters gather in a CLH queue of their cluster; the first of them, the cluster's
 * master, splices the queue as a whole into the order of all (clusters.h), so that the lock
 * stays in the cluster for a batch of sections.
 *
 *   a thread swaps its node in as the cluster's tail
 *     - there was none: it is the master, lets others gather for a while, swaps the tail with 0,
 *       and appends what it got, the last node of a chain that begins with its own, to the order
 *     - else it waits on its predecessor's node
 *   granted HEAD (clhqueue.h), it is the first of the order, takes the word and leaves the order.
 *
 * Invariant: each node has one successor, behind it in the chain or, for the last of a chain, the
 * master of the next chain. Once spliced, a chain is a part of an ordinary CLH queue.
 *
 * Departures from the source
 *  - A master empties its cluster's queue when it splices it. In the source the last node stays
 *    there, as the predecessor of the next master, which finds by a mark on it that it is one; the
 *    node then has two successors, and whether it was reused must be told by its cluster's number.
 *    Here nodes are shared by all mutexes and clusters, and the next master finds an empty queue.
 *  - A master gathers while others wait before it, but only for a short time.
 *  - The order is in front of the exclusion word: threads leave it when they have the word, so
 *    locks nest in any order. While its first sleeps, arrivals may take the word (clusters.h).
 *
 * Progress and fairness: first come, first served within a cluster and among chains; a chain is
 * finite since it is closed when it is spliced. Memory: an annex of 4 KB per mutex from its first
 * contention on, a node of 64 bytes for each waiter. A waiter spins on its predecessor's node, of
 * its own cluster unless it is a master. A preempted master delays those of its cluster that have
 * gathered behind it; any other waiter delays those behind it only while it is the first of
 * the order and spinning; asleep, it is passed. A thread that dies holding the lock leaves the
 * word taken for ever.
 */
#include "algorithm.h"
#include "clhqueue.h"
#include "clusters.h"
#include "queue.h"

/* A master gathers for this part of a waiter's spin: about half a microsecond, in which a line
 * travels between sockets a few times. A guess. */
enum { GATHER = 4 };

/* Takes the chain that has gathered behind the master off its cluster. Returns its last node. */
static struct relock_request *gather(struct relock_clusters *clusters,
                                     struct relock_cluster *cluster) {
  for (uint32_t i = relock_wait_spins() / GATHER; i > 0 && relock_load_relaxed(&clusters->order);)
    i -= relock_pauses(i);
  /* Acquire: the nodes are initialised; pairs with the release in relock_clh_append(). */
  return (struct relock_request *)relock_exchange_acquire(&cluster->tail, 0);
}

static void take_word(relock_mutex_t *mutex, struct relock_clusters *clusters,
                      struct relock_cluster *cluster, struct relock_thread *self,
                      struct relock_request *node, struct relock_wait *wait) {
  struct relock_request *previous = relock_clh_append(&cluster->tail, node);
  if (previous)
    relock_clh_await(previous, self, wait);
  else
    relock_order_enter(mutex, clusters, self, gather(clusters, cluster), wait);
  relock_queue_take_word(mutex, wait);
  if (!relock_order_leave(mutex, clusters, self, node))
    return;
  const uint32_t *futex = relock_queue_make_head(mutex, node);
  if (futex)
    relock_os->futex_wake(futex, 1);
}

static void hclh_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_clusters *clusters = relock_annex(mutex);
  struct relock_cluster *cluster = clusters ? &clusters->cluster[relock_cluster(self)] : NULL;
  if (!clusters || !relock_clusters_pass(mutex, clusters, cluster, &wait)) {
    struct relock_request *node = clusters ? relock_clh_node(self) : NULL;
    if (node)
      take_word(mutex, clusters, cluster, self, node, &wait);
    else /* no memory */
      relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  }
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_hclh = {.name = "hclh", .lock = hclh_lock, .has_annex = true};
