/* SPDX-License-Identifier: MIT */
#include <relock/containers.h>

#include <errno.h>

struct queue_section {
  relock_queue_t *queue;
  relock_node_t *node;
};
_Static_assert(sizeof(struct queue_section) <= RELOCK_COPY_MAX, "travels with the request");

static int enqueue_section(void *context) {
  struct queue_section *section = context;
  relock_queue_t *queue = section->queue;
  relock_node_t *node = section->node;
  node->relock_next = NULL;
  if (queue->relock_private.first)
    queue->relock_private.last->relock_next = node;
  else
    queue->relock_private.first = node;
  queue->relock_private.last = node;
  return 0;
}

static int dequeue_section(void *context) {
  struct queue_section *section = context;
  relock_node_t **first = &section->queue->relock_private.first;
  section->node = *first;
  if (*first)
    *first = (*first)->relock_next;
  return 0;
}

int relock_queue_init(relock_queue_t *queue, relock_class_t *lock_class) {
  queue->relock_private.first = NULL;
  return relock_mutex_init(&queue->relock_private.mutex, NULL, lock_class);
}

int relock_queue_enqueue(relock_queue_t *queue, relock_node_t *node) {
  struct queue_section section = {queue, node};
  if (!node)
    return EINVAL;
  relock_execute_copy_any_thread(&queue->relock_private.mutex, enqueue_section, &section,
                                 sizeof section);
  return 0;
}

relock_node_t *relock_queue_dequeue(relock_queue_t *queue) {
  struct queue_section section = {queue, NULL};
  relock_execute_copy_any_thread(&queue->relock_private.mutex, dequeue_section, &section,
                                 sizeof section);
  return section.node;
}

int relock_queue_destroy(relock_queue_t *queue) {
  return queue->relock_private.first ? EBUSY : relock_mutex_destroy(&queue->relock_private.mutex);
}
