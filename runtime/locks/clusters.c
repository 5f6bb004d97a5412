/* SPDX-License-Identifier: MIT
 *
 * The order of the clusters' heads. See clusters.h.
 */
#include "clusters.h"

#include "clhqueue.h"
#include "queue.h"

bool relock_clusters_pass(relock_mutex_t *mutex, const struct relock_clusters *clusters,
                          const struct relock_cluster *own, struct relock_wait *wait) {
  bool somebody_waits = relock_load_relaxed(&clusters->order) || relock_load_relaxed(&own->tail);
  return somebody_waits && relock_queue_pass(mutex, wait);
}

void relock_order_enter(relock_mutex_t *mutex, struct relock_clusters *clusters,
                        struct relock_thread *self, struct relock_request *last,
                        struct relock_wait *wait) {
  struct relock_request *previous = relock_clh_append(&clusters->order, last);
  if (previous)
    relock_clh_await(previous, self, wait);
  else
    relock_store_relaxed(&mutex->relock_private.open, 0);
}

bool relock_order_leave(relock_mutex_t *mutex, struct relock_clusters *clusters,
                        struct relock_thread *self, struct relock_request *node) {
  if (!relock_clh_leave(&clusters->order, node, self))
    return true;
  relock_store_relaxed(&mutex->relock_private.open, 1);
  return false;
}

struct relock_request *relock_order_take_word(relock_mutex_t *mutex,
                                              struct relock_clusters *clusters,
                                              struct relock_thread *self,
                                              struct relock_wait *wait) {
  struct relock_request *place = relock_clh_node(self);
  if (place) {
    relock_order_enter(mutex, clusters, self, place, wait);
    relock_queue_take_word(mutex, wait);
  } else {
    relock_word_wait(&mutex->relock_private.word, wait, CLOCK_MONOTONIC, NULL);
  }
  return place;
}
