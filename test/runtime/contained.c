/* SPDX-License-Identifier: MIT */
#include "contained.h"

#include <relock/containers.h>

#include <string.h>

void (*contained_between)(void);

static void between(void) {
  if (contained_between)
    contained_between();
}

/* What has come out of a container is its taker's, who writes to it. */
static void overwrite(void *node, size_t size) {
  if (node)
    memset(node, 0x55, size);
}

/* --- counter --------------------------------------------------------------------------------- */

static relock_counter_t counter;

static void begin_counter(relock_class_t *lock_class) {
  relock_counter_init(&counter, lock_class, 0);
}

static int use_counter(enum call call, int key, int value) {
  (void)key;
  return (int)(call == INSERT ? relock_counter_add(&counter, (uint64_t)value)
                              : relock_counter_read(&counter));
}

static int set_section(void *sum) {
  counter.relock_private.value = *(uint64_t *)sum;
  return 0;
}

/* One section reads, another one writes: additions between them are lost. */
static int use_losing_counter(enum call call, int key, int value) {
  if (call != INSERT)
    return use_counter(call, key, value);
  const uint64_t before = relock_counter_read(&counter);
  uint64_t sum = before + (uint64_t)value;
  between();
  relock_execute_copy_any_thread(&counter.relock_private.mutex, set_section, &sum, sizeof sum);
  return (int)before;
}

/* --- stack ----------------------------------------------------------------------------------- */

static relock_node_t nodes[MAX_OPERATIONS];
static relock_stack_t stack;

static int value_of(relock_node_t *node) {
  overwrite(node, sizeof *node);
  return node ? (int)(node - nodes) : NOTHING;
}

static void begin_stack(relock_class_t *lock_class) { relock_stack_init(&stack, lock_class); }

static int use_stack(enum call call, int key, int value) {
  (void)key;
  return call == TAKE ? value_of(relock_stack_pop(&stack))
                      : relock_stack_push(&stack, &nodes[value]);
}

static int look_at_top(void *top) {
  *(relock_node_t **)top = stack.relock_private.top;
  return 0;
}

/* A pop that returns what was on top before it takes the top off. */
static int use_stale_stack(enum call call, int key, int value) {
  if (call != TAKE)
    return use_stack(call, key, value);
  relock_node_t *top;
  relock_execute_copy_any_thread(&stack.relock_private.mutex, look_at_top, &top, sizeof top);
  between();
  relock_stack_pop(&stack);
  return top ? (int)(top - nodes) : NOTHING;
}

/* --- queues ---------------------------------------------------------------------------------- */

static relock_queue_t queue;

static void begin_queue(relock_class_t *lock_class) { relock_queue_init(&queue, lock_class); }

static int use_queue(enum call call, int key, int value) {
  (void)key;
  return call == TAKE ? value_of(relock_queue_dequeue(&queue))
                      : relock_queue_enqueue(&queue, &nodes[value]);
}

static int swap_section(void *unused) {
  (void)unused;
  relock_node_t *first = queue.relock_private.first, *second = first ? first->relock_next : NULL;
  if (!second)
    return 0;
  first->relock_next = second->relock_next;
  second->relock_next = first;
  queue.relock_private.first = second;
  if (queue.relock_private.last == second)
    queue.relock_private.last = first;
  return 0;
}

/* The first two change their places before one is taken. */
static int use_swapping_queue(enum call call, int key, int value) {
  if (call == TAKE)
    relock_execute_any_thread(&queue.relock_private.mutex, swap_section, NULL);
  return use_queue(call, key, value);
}

static int take_all(void *first) {
  *(relock_node_t **)first = queue.relock_private.first;
  queue.relock_private.first = NULL;
  return 0;
}

static int put_back(void *first) {
  relock_node_t *node = *(relock_node_t **)first, *last = node;
  while (last->relock_next)
    last = last->relock_next;
  last->relock_next = queue.relock_private.first;
  if (!queue.relock_private.first)
    queue.relock_private.last = last;
  queue.relock_private.first = node;
  return 0;
}

/* A dequeue takes all that there is, and puts back the rest: meanwhile the queue is empty. */
static int use_emptied_queue(enum call call, int key, int value) {
  if (call != TAKE)
    return use_queue(call, key, value);
  relock_node_t *first = NULL;
  relock_execute_copy_any_thread(&queue.relock_private.mutex, take_all, &first, sizeof first);
  relock_node_t *rest = first ? first->relock_next : NULL;
  between();
  if (rest)
    relock_execute_copy_any_thread(&queue.relock_private.mutex, put_back, &rest, sizeof rest);
  return value_of(first);
}

static relock_value_node_t value_nodes[MAX_OPERATIONS + 1];
static relock_two_lock_queue_t two_lock_queue;

static void begin_two_lock_queue(relock_class_t *lock_class) {
  relock_two_lock_queue_init(&two_lock_queue, lock_class, lock_class, &value_nodes[MAX_OPERATIONS]);
}

static int use_two_lock_queue(enum call call, int key, int value) {
  (void)key;
  if (call == INSERT)
    return relock_two_lock_queue_enqueue(&two_lock_queue, &value_nodes[value], &nodes[value]);
  void *found = NULL;
  relock_value_node_t *node = relock_two_lock_queue_dequeue(&two_lock_queue, &found);
  overwrite(node, sizeof *node);
  return node ? (int)((relock_node_t *)found - nodes) : NOTHING;
}

/* --- map ------------------------------------------------------------------------------------- */

enum { PARTS = 2, BUCKETS = 2 };
static const char keys[MAX_KEYS];
static relock_map_part_t parts[PARTS];
static relock_map_node_t *buckets[BUCKETS], map_nodes[MAX_OPERATIONS];
static relock_map_t map;

static uint64_t hash_key(const void *key) { return (uint64_t)((const char *)key - keys); }
static int equal_keys(const void *key, const void *other) { return key == other; }

static void begin_map(relock_class_t *lock_class) {
  relock_map_init(&map, lock_class, parts, PARTS, buckets, BUCKETS, hash_key, equal_keys);
}

static int value_of_map_node(relock_map_node_t *node) {
  overwrite(node, sizeof *node);
  return node ? (int)(node - map_nodes) : NOTHING;
}

static int use_map(enum call call, int key, int value) {
  relock_map_node_t *replaced;
  void *found;
  switch (call) {
  case INSERT:
    map_nodes[value] = (relock_map_node_t){.key = &keys[key], .value = &nodes[value]};
    relock_map_put(&map, &map_nodes[value], &replaced);
    return value_of_map_node(replaced);
  case TAKE:
    return value_of_map_node(relock_map_remove(&map, &keys[key]));
  case LOOK:
    return relock_map_get(&map, &keys[key], &found) ? NOTHING
                                                    : (int)((relock_node_t *)found - nodes);
  }
  return NOTHING;
}

/* A put that removes what it replaces first: meanwhile the key is not there. */
static int use_gone_map(enum call call, int key, int value) {
  if (call != INSERT)
    return use_map(call, key, value);
  const int before = use_map(TAKE, key, 0);
  between();
  const int meanwhile = use_map(INSERT, key, value);
  return meanwhile != NOTHING ? meanwhile : before;
}

const struct contained contained[] = {
    {"counter", COUNTER, false, begin_counter, use_counter},
    {"stack", STACK, false, begin_stack, use_stack},
    {"queue", QUEUE, false, begin_queue, use_queue},
    {"two-lock-queue", QUEUE, false, begin_two_lock_queue, use_two_lock_queue},
    {"map", MAP, false, begin_map, use_map},
    {"losing-counter", COUNTER, true, begin_counter, use_losing_counter},
    {"stale-stack", STACK, true, begin_stack, use_stale_stack},
    {"swapping-queue", QUEUE, true, begin_queue, use_swapping_queue},
    {"emptied-queue", QUEUE, true, begin_queue, use_emptied_queue},
    {"gone-map", MAP, true, begin_map, use_gone_map},
};
const int contained_count = sizeof contained / sizeof *contained;
