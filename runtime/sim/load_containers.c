/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#include "load_containers.h"

#include "processors.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

/* A number of a node, 0 for none, and how often the pointer has changed. */
typedef uint64_t counted_t;
static uint32_t number_of(counted_t pointer) { return (uint32_t)pointer; }
static counted_t next_count(counted_t before, uint32_t number) {
  return ((before >> 32) + 1) << 32 | number;
}

struct node {
  _Alignas(LINE) relock_node_t node;
  _Alignas(LINE) relock_value_node_t value_node;
  _Alignas(LINE) counted_t next;
  uint64_t value;
};

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
  _Alignas(LINE) counted_t first; /* a stack's top, or a queue's dummy; or the counter */
  _Alignas(LINE) counted_t last;
  _Alignas(LINE) relock_class_t dequeue_class;
  enum sim_mode mode;
  bool lock_free;
  struct node *nodes;
  struct user *users;
  unsigned user_count;
} *shared;

static struct node *node_of(counted_t pointer) { return &shared->nodes[number_of(pointer)]; }

static counted_t load(const counted_t *pointer) {
  return __atomic_load_n(pointer, __ATOMIC_ACQUIRE);
}
static bool swap(counted_t *pointer, counted_t before, uint32_t number) {
  return __atomic_compare_exchange_n(pointer, &before, next_count(before, number), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* --- without locks --------------------------------------------------------------------------- */

static void treiber_push(uint32_t number) {
  for (;;) {
    const counted_t top = load(&shared->first);
    __atomic_store_n(&shared->nodes[number].next, top, __ATOMIC_RELAXED);
    if (swap(&shared->first, top, number))
      return;
  }
}

static uint32_t treiber_pop(void) {
  for (;;) {
    const counted_t top = load(&shared->first);
    if (!number_of(top))
      return 0;
    if (swap(&shared->first, top, number_of(load(&node_of(top)->next))))
      return number_of(top);
  }
}

static void michael_scott_enqueue(uint32_t number) {
  struct node *node = &shared->nodes[number];
  __atomic_store_n(&node->value, number, __ATOMIC_RELAXED);
  __atomic_store_n(&node->next, next_count(node->next, 0), __ATOMIC_RELAXED);
  for (;;) {
    const counted_t last = load(&shared->last), next = load(&node_of(last)->next);
    if (last != load(&shared->last))
      continue;
    if (number_of(next)) {
      swap(&shared->last, last, number_of(next));
    } else if (swap(&node_of(last)->next, next, number)) {
      swap(&shared->last, last, number);
      return;
    }
  }
}

/* The node that was the dummy. */
static uint32_t michael_scott_dequeue(void) {
  for (;;) {
    const counted_t dummy = load(&shared->first), last = load(&shared->last);
    const counted_t next = load(&node_of(dummy)->next);
    if (dummy != load(&shared->first))
      continue;
    if (number_of(dummy) == number_of(last)) {
      if (!number_of(next))
        return 0;
      swap(&shared->last, last, number_of(next));
      continue;
    }
    (void)__atomic_load_n(&node_of(next)->value, __ATOMIC_RELAXED);
    if (swap(&shared->first, dummy, number_of(next)))
      return number_of(dummy);
  }
}

/* False: there was nothing. */
static bool operate_lock_free(struct user *user, bool take) {
  switch (shared->mode) {
  case SIM_COUNTER:
    __atomic_fetch_add(&shared->first, 1, __ATOMIC_SEQ_CST);
    return true;
  case SIM_STACK:
    if (take)
      return (user->number = treiber_pop()) != 0;
    treiber_push(user->number);
    return true;
  default:
    if (take)
      return (user->number = michael_scott_dequeue()) != 0;
    michael_scott_enqueue(user->number);
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
    struct node *node = &shared->nodes[1 + i];
    shared->users[i] =
        (struct user){.node = &node->node, .value_node = &node->value_node, .number = 1 + i};
  }
  const uint32_t dummy = shared->user_count + 1;
  shared->mode = load->mode;
  shared->lock_free = strcmp(load->lock, SIM_LOCK_FREE) == 0;
  if (shared->lock_free) {
    if (load->mode == SIM_QUEUE)
      shared->first = shared->last = dummy;
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
  uint64_t count = 0;
  const counted_t first = shared->mode == SIM_QUEUE ? node_of(shared->first)->next : shared->first;
  for (counted_t at = first; number_of(at); at = node_of(at)->next)
    count++;
  return count;
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
    return operations == (shared->lock_free ? shared->first : shared->counter.relock_private.value);
  return inside == (shared->lock_free ? count_lock_free() : count_container());
}
