/* SPDX-License-Identifier: MIT
 *
 * What containers are compared with, by relock-bench and on the simulated machine: the stack of
 * R. K. Treiber (1986), and the queue of M. M. Michael and M. L. Scott (1996), section 2. Pointers
 * are numbers of nodes with a count of how often they have changed, and nodes are never freed, so
 * that a node which is back in its old place is no mistake.
 */
#ifndef RELOCK_BENCH_LOCK_FREE_H
#define RELOCK_BENCH_LOCK_FREE_H

#include <relock/containers.h>

#include <stdbool.h>
#include <stdint.h>

enum { LOCK_FREE_LINE = 128 };

/* A number of a node, 0 for none, and the count. */
typedef uint64_t counted_t;
static inline uint32_t number_of(counted_t pointer) { return (uint32_t)pointer; }
static inline counted_t next_count(counted_t before, uint32_t number) {
  return ((before >> 32) + 1) << 32 | number;
}

/* A node of any container, with locks and without. */
struct any_node {
  _Alignas(LOCK_FREE_LINE) relock_node_t node;
  _Alignas(LOCK_FREE_LINE) relock_value_node_t value_node;
  _Alignas(LOCK_FREE_LINE) counted_t next;
  uint64_t value;
};

/* first: a stack's top, or a queue's dummy. */
struct lock_free {
  _Alignas(LOCK_FREE_LINE) counted_t first;
  _Alignas(LOCK_FREE_LINE) counted_t last;
};

static inline counted_t load_counted(const counted_t *pointer) {
  return __atomic_load_n(pointer, __ATOMIC_ACQUIRE);
}
static inline bool swap_counted(counted_t *pointer, counted_t before, uint32_t number) {
  return __atomic_compare_exchange_n(pointer, &before, next_count(before, number), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline void treiber_push(struct lock_free *stack, struct any_node *nodes, uint32_t number) {
  for (;;) {
    const counted_t top = load_counted(&stack->first);
    __atomic_store_n(&nodes[number].next, top, __ATOMIC_RELAXED);
    if (swap_counted(&stack->first, top, number))
      return;
  }
}

static inline uint32_t treiber_pop(struct lock_free *stack, struct any_node *nodes) {
  for (;;) {
    const counted_t top = load_counted(&stack->first);
    if (!number_of(top))
      return 0;
    if (swap_counted(&stack->first, top, number_of(load_counted(&nodes[number_of(top)].next))))
      return number_of(top);
  }
}

static inline void michael_scott_enqueue(struct lock_free *queue, struct any_node *nodes,
                                         uint32_t number) {
  struct any_node *node = &nodes[number];
  __atomic_store_n(&node->value, number, __ATOMIC_RELAXED);
  __atomic_store_n(&node->next, next_count(node->next, 0), __ATOMIC_RELAXED);
  for (;;) {
    const counted_t last = load_counted(&queue->last);
    const counted_t next = load_counted(&nodes[number_of(last)].next);
    if (last != load_counted(&queue->last))
      continue;
    if (number_of(next)) {
      swap_counted(&queue->last, last, number_of(next));
    } else if (swap_counted(&nodes[number_of(last)].next, next, number)) {
      swap_counted(&queue->last, last, number);
      return;
    }
  }
}

/* The node that was the dummy. */
static inline uint32_t michael_scott_dequeue(struct lock_free *queue, struct any_node *nodes) {
  for (;;) {
    const counted_t dummy = load_counted(&queue->first), last = load_counted(&queue->last);
    const counted_t next = load_counted(&nodes[number_of(dummy)].next);
    if (dummy != load_counted(&queue->first))
      continue;
    if (number_of(dummy) == number_of(last)) {
      if (!number_of(next))
        return 0;
      swap_counted(&queue->last, last, number_of(next));
      continue;
    }
    (void)__atomic_load_n(&nodes[number_of(next)].value, __ATOMIC_RELAXED);
    if (swap_counted(&queue->first, dummy, number_of(next)))
      return number_of(dummy);
  }
}

/* From this pointer on, when nobody uses them any more. */
static inline uint64_t count_nodes(const struct any_node *nodes, counted_t from) {
  uint64_t count = 0;
  for (counted_t at = from; number_of(at); at = nodes[number_of(at)].next)
    count++;
  return count;
}

#endif
