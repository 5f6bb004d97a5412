/* SPDX-License-Identifier: MIT
 *
 * The queue with two locks. `dummy` and all that was dequeued before it are those of the sections
 * under the dequeue mutex, `last` of those under the enqueue mutex. What both touch is the link of
 * the last node, which may be the dummy: that is atomic.
 *
 * Invariants
 *  - From the dummy, links lead to `last`, or, within an enqueuing section, to the node before.
 *  - A node's value is written before a link leads to it, and read while it is in the queue.
 *  - The dummy is given away only when its link was seen to lead on. Then the section that has set
 *    the link, the last one to write to the node, is done with it.
 */
#include <relock/containers.h>

#include "../base/atomic.h"

#include <errno.h>

struct enqueue_section {
  relock_two_lock_queue_t *queue;
  relock_value_node_t *node;
  void *value;
};
struct dequeue_section {
  relock_two_lock_queue_t *queue;
  relock_value_node_t *node;
  void *value;
};
_Static_assert(sizeof(struct enqueue_section) <= RELOCK_COPY_MAX, "travels with the request");
_Static_assert(sizeof(struct dequeue_section) <= RELOCK_COPY_MAX, "travels with the request");

static int enqueue_section(void *context) {
  struct enqueue_section *section = context;
  relock_value_node_t **last = &section->queue->relock_private.last, *before = *last;
  relock_value_node_t *node = section->node;
  node->relock_value = section->value;
  relock_store_relaxed(&node->relock_next, NULL);
  *last = node;
  /* Release: pairs with the acquire in next_of(). */
  relock_store_release(&before->relock_next, node);
  return 0;
}

static relock_value_node_t *next_of(relock_value_node_t *node) {
  /* Acquire: pairs with the release in enqueue_section(). */
  return relock_load_acquire(&node->relock_next);
}

static int dequeue_section(void *context) {
  struct dequeue_section *section = context;
  relock_value_node_t **dummy = &section->queue->relock_private.dummy;
  relock_value_node_t *first = next_of(*dummy);
  if (!first)
    return 0;
  section->node = *dummy;
  section->value = first->relock_value;
  *dummy = first;
  return 0;
}

int relock_two_lock_queue_init(relock_two_lock_queue_t *queue, relock_class_t *enqueue_class,
                               relock_class_t *dequeue_class, relock_value_node_t *dummy) {
  if (!dummy)
    return EINVAL;
  dummy->relock_next = NULL;
  queue->relock_private.dummy = queue->relock_private.last = dummy;
  const int error = relock_mutex_init(&queue->relock_private.enqueue_mutex, NULL, enqueue_class);
  return error ? error
               : relock_mutex_init(&queue->relock_private.dequeue_mutex, NULL, dequeue_class);
}

int relock_two_lock_queue_enqueue(relock_two_lock_queue_t *queue, relock_value_node_t *node,
                                  void *value) {
  struct enqueue_section section = {queue, node, value};
  if (!node)
    return EINVAL;
  relock_execute_copy_any_thread(&queue->relock_private.enqueue_mutex, enqueue_section, &section,
                                 sizeof section);
  return 0;
}

relock_value_node_t *relock_two_lock_queue_dequeue(relock_two_lock_queue_t *queue, void **value) {
  struct dequeue_section section = {queue, NULL, NULL};
  relock_execute_copy_any_thread(&queue->relock_private.dequeue_mutex, dequeue_section, &section,
                                 sizeof section);
  if (section.node)
    *value = section.value;
  return section.node;
}

int relock_two_lock_queue_destroy(relock_two_lock_queue_t *queue, relock_value_node_t **dummy) {
  if (next_of(queue->relock_private.dummy))
    return EBUSY;
  int error = relock_mutex_destroy(&queue->relock_private.enqueue_mutex);
  if (!error)
    error = relock_mutex_destroy(&queue->relock_private.dequeue_mutex);
  if (!error)
    *dummy = queue->relock_private.dummy;
  return error;
}
