/* SPDX-License-Identifier: MIT
 *
 * The stack and the queue of liburcu (liburcu-dev) for `relock-bench --containers`:
 *
 *   cc -O2 -shared -fPIC -I runtime runtime/bench/others/urcu.c -o urcu.so -lurcu-cds -lurcu-common
 *
 * Both put in without waiting, and take out under a mutex of their own.
 */
#include "bench/other.h"

#include <stdlib.h>
#include <string.h>
#include <urcu/wfcqueue.h>
#include <urcu/wfstack.h>

enum { LINE = 128 };

static void *zeroed(size_t size) {
  void *memory = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
  return memory ? memset(memory, 0, size) : NULL;
}

/* --- a stack --------------------------------------------------------------------------------- */

struct stack_user {
  _Alignas(LINE) struct cds_wfs_node node;
  struct cds_wfs_node *own; /* what the thread puts in next */
};

struct stack {
  _Alignas(LINE) struct cds_wfs_stack ends;
  struct stack_user users[];
};

static void *create_stack(int threads) {
  struct stack *stack = zeroed(sizeof(struct stack) + (size_t)threads * sizeof(struct stack_user));
  if (!stack)
    return NULL;
  cds_wfs_init(&stack->ends);
  for (int i = 0; i < threads; i++)
    stack->users[i].own = &stack->users[i].node;
  return stack;
}

static void destroy_stack(void *container) {
  struct stack *stack = container;
  cds_wfs_destroy(&stack->ends);
  free(stack);
}

static int use_stack(void *container, int thread, int take) {
  struct stack *stack = container;
  struct stack_user *user = &stack->users[thread];
  if (take)
    return (user->own = cds_wfs_pop_blocking(&stack->ends)) != NULL;
  cds_wfs_node_init(user->own);
  cds_wfs_push(&stack->ends, user->own);
  return 1;
}

static unsigned long inside_stack(void *container) {
  struct stack *stack = container;
  unsigned long count = 0;
  while (cds_wfs_pop_blocking(&stack->ends))
    count++;
  return count;
}

/* --- a queue --------------------------------------------------------------------------------- */

struct queue_user {
  _Alignas(LINE) struct cds_wfcq_node node;
  struct cds_wfcq_node *own;
};

struct queue {
  _Alignas(LINE) struct cds_wfcq_head head;
  _Alignas(LINE) struct cds_wfcq_tail tail;
  struct queue_user users[];
};

static void *create_queue(int threads) {
  struct queue *queue = zeroed(sizeof(struct queue) + (size_t)threads * sizeof(struct queue_user));
  if (!queue)
    return NULL;
  cds_wfcq_init(&queue->head, &queue->tail);
  for (int i = 0; i < threads; i++)
    queue->users[i].own = &queue->users[i].node;
  return queue;
}

static void destroy_queue(void *container) {
  struct queue *queue = container;
  cds_wfcq_destroy(&queue->head, &queue->tail);
  free(queue);
}

static int use_queue(void *container, int thread, int take) {
  struct queue *queue = container;
  struct queue_user *user = &queue->users[thread];
  if (take)
    return (user->own = cds_wfcq_dequeue_blocking(&queue->head, &queue->tail)) != NULL;
  cds_wfcq_node_init(user->own);
  cds_wfcq_enqueue(&queue->head, &queue->tail, user->own);
  return 1;
}

static unsigned long inside_queue(void *container) {
  struct queue *queue = container;
  unsigned long count = 0;
  while (cds_wfcq_dequeue_blocking(&queue->head, &queue->tail))
    count++;
  return count;
}

const struct relock_bench_container relock_bench_containers[] = {
    {"urcu wfstack", "stack", create_stack, destroy_stack, use_stack, inside_stack},
    {"urcu wfcqueue", "queue", create_queue, destroy_queue, use_queue, inside_queue},
    {0}};
