/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#include "load_containers.h"

#include "../bench/lock_free.h"
#include "processors.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = LOCK_FREE_LINE };

/* Of a thread. */
struct user {
  _Alignas(LINE) uint64_t turn;
  relock_node_t *node;
  relock_value_node_t *value_node;
  uint32_t number; /* of its node without locks, from 1 on */
};

/* Allocated, so that the addresses of other loads do not depend on it. */
static struct {
  relock_counter_t counter;
  relock_stack_t stack;
  relock_queue_t queue;
  relock_two_lock_queue_t two_lock_queue;
  struct lock_free ends; /* the first is the counter, too */
  _Alignas(LINE) relock_class_t dequeue_class;
  enum sim_mode mode;
  bool lock_free;
  struct any_node *nodes;
  struct user *users;
  unsigned user_count;
} *shared;

/* False: there was nothing. */
static bool operate_lock_free(struct user *user, bool take) {
  switch (shared->mode) {
  case SIM_COUNTER:
    __atomic_fetch_add(&shared->ends.first, 1, __ATOMIC_SEQ_CST);
    return true;
  case SIM_STACK:
    if (take)
      return (user->number = treiber_pop(&shared->ends, shared->nodes)) != 0;
    treiber_push(&shared->ends, shared->nodes, user->number);
    return true;
  default:
    if (take)
      return (user->number = michael_scott_dequeue(&shared->ends, shared->nodes)) != 0;
    michael_scott_enqueue(&shared->ends, shared->nodes, user->number);
    return true;
  }
}

/* --- containers ------------------------------------------------------------------------------ */

static bool operate_container(struct user *user, bool take) {
  void *value;
  switch (shared->mode) {
  case SIM_COUNTER:
    relock_counter_add(&shared->counter, 1);
    return true;
  case SIM_STACK:
    if (take)
      return (user->node = relock_stack_pop(&shared->stack)) != NULL;
    return relock_stack_push(&shared->stack, user->node) == 0;
  case SIM_QUEUE:
    if (take)
      return (user->node = relock_queue_dequeue(&shared->queue)) != NULL;
    return relock_queue_enqueue(&shared->queue, user->node) == 0;
  default:
    if (take)
      return (user->value_node = relock_two_lock_queue_dequeue(&shared->two_lock_queue, &value)) !=
             NULL;
    return relock_two_lock_queue_enqueue(&shared->two_lock_queue, user->value_node, user) == 0;
  }
}

/* Whoever takes has put something there, so there is always something to take. */
void sim_container_operate(unsigned number) {
  struct user *user = &shared->users[number];
  const bool take = user->turn % 2;
  if (!(shared->lock_free ? operate_lock_free(user, take) : operate_container(user, take)))
    abort();
  user->turn++;
}

static void *allocate(size_t count, size_t size) {
  void *memory = aligned_alloc(LINE, count * size);
  if (!memory)
    abort();
  return memset(memory, 0, count * size);
}

void sim_containers_start(const struct sim_load *load, relock_class_t *lock_class) {
  shared = allocate(1, (sizeof *shared + LINE - 1) / LINE * LINE);
  shared->user_count = load->threads + 1;
  shared->users = allocate(shared->user_count, sizeof *shared->users);
  shared->nodes = allocate(shared->user_count + 2, sizeof *shared->nodes);
  for (unsigned i = 0; i < shared->user_count; i++) {
    struct any_node *node = &shared->nodes[1 + i];
    shared->users[i] =
        (struct user){.node = &node->node, .value_node = &node->value_node, .number = 1 + i};
  }
  const uint32_t dummy = shared->user_count + 1;
  shared->mode = load->mode;
  shared->lock_free = strcmp(load->lock, SIM_LOCK_FREE) == 0;
  if (shared->lock_free) {
    if (load->mode == SIM_QUEUE)
      shared->ends.first = shared->ends.last = dummy;
    return;
  }
  /* A server for each end. */
  shared->dequeue_class.name = "simulated-2";
  shared->dequeue_class.algorithm = lock_class->algorithm;
  if (load->mode == SIM_TWO_LOCKS && strcmp(load->lock, "rcl") == 0) {
    shared->dequeue_class.algorithm = "rcl:2";
    if (relock_server_place(2, (int)load->processors) != 0)
      abort();
  }
  relock_counter_init(&shared->counter, lock_class, 0);
  relock_stack_init(&shared->stack, lock_class);
  relock_queue_init(&shared->queue, lock_class);
  if (relock_two_lock_queue_init(&shared->two_lock_queue, lock_class, &shared->dequeue_class,
                                 &shared->nodes[dummy].value_node) != 0)
    abort();
}

/* Of the structure itself, when nobody uses it any more. */
static uint64_t count_lock_free(void) {
  const counted_t first = shared->ends.first;
  return count_nodes(shared->nodes,
                     shared->mode == SIM_QUEUE ? shared->nodes[number_of(first)].next : first);
}

static uint64_t count_container(void) {
  uint64_t count = 0;
  const relock_node_t *at = shared->mode == SIM_STACK ? shared->stack.relock_private.top
                                                      : shared->queue.relock_private.first;
  if (shared->mode != SIM_TWO_LOCKS) {
    for (; at; at = at->relock_next)
      count++;
    return count;
  }
  const relock_value_node_t *node = shared->two_lock_queue.relock_private.dummy;
  for (; node->relock_next; node = node->relock_next)
    count++;
  return count;
}

bool sim_container_is_exact(void) {
  uint64_t operations = 0, inside = 0;
  for (unsigned i = 0; i < shared->user_count; i++) {
    operations += shared->users[i].turn;
    inside += shared->users[i].turn % 2;
  }
  if (shared->mode == SIM_COUNTER)
    return operations ==
           (shared->lock_free ? shared->ends.first : shared->counter.relock_private.value);
  return inside == (shared->lock_free ? count_lock_free() : count_container());
}
