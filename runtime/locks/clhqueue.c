/* SPDX-License-Identifier: MIT
 *
 * The queue of the CLH lock. See clhqueue.h.
 */
#include "clhqueue.h"

#include "queue.h"

struct relock_request *relock_clh_node(struct relock_thread *self) {
  struct relock_request *node = relock_node_take(self);
  if (node)
    relock_store_relaxed(&node->state, relock_queue_waiting());
  return node;
}

struct relock_request *relock_clh_append(uintptr_t *tail, struct relock_request *last) {
  /* Release: the node's state is there for whoever swaps in behind it. Acquire: that of the one
   * that we get is. Both sides are this line. */
  return (struct relock_request *)relock_exchange_acq_rel(tail, (uintptr_t)last);
}

uint32_t relock_clh_await(struct relock_request *previous, struct relock_thread *self,
                          struct relock_wait *wait) {
  uint32_t state = relock_queue_await(previous, wait);
  relock_node_give(self, previous);
  return state;
}

bool relock_clh_leave(uintptr_t *tail, struct relock_request *node, struct relock_thread *self) {
  /* Release: whoever finds the tail 0 comes after what the head has done until now; pairs with
   * the acquire in relock_clh_append(). */
  if (relock_load_relaxed(tail) != (uintptr_t)node || !relock_cas_release(tail, (uintptr_t)node, 0))
    return false;
  relock_node_give(self, node);
  return true;
}
