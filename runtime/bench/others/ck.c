/* SPDX-License-Identifier: MIT
 *
 * The containers without locks of Concurrency Kit (libck-dev) for `relock-bench --containers`:
 *
 *   cc -O2 -shared -fPIC -I runtime runtime/bench/others/ck.c -o ck.so -lck
 *
 * Its stack and its first queue need a compare-and-swap of two words. Both queues may say that they
 * are empty when they are not, and are looked at again: the first one reads its head once, which
 * may have been taken and put in again when it finds nothing behind it; the ring has a place that
 * an earlier thread has reserved and not filled.
 */
#include "bench/other.h"

#include <ck_fifo.h>
#include <ck_pr.h>
#include <ck_ring.h>
#include <ck_stack.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, MOST_LOOKS = 1 << 30 };

static void *zeroed(size_t size) {
  void *memory = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
  return memory ? memset(memory, 0, size) : NULL;
}

/* --- a counter ------------------------------------------------------------------------------- */

static void *create_counter(int threads) {
  (void)threads;
  return zeroed(LINE);
}

static int add(void *counter, int thread, int take) {
  (void)thread, (void)take;
  ck_pr_faa_64(counter, 1);
  return 1;
}

static unsigned long counted(void *counter) { return *(unsigned long *)counter; }

/* --- a stack --------------------------------------------------------------------------------- */

struct stack_user {
  _Alignas(LINE) ck_stack_entry_t entry;
  ck_stack_entry_t *own; /* what the thread puts in next */
};

struct stack {
  _Alignas(LINE) ck_stack_t ends;
  struct stack_user users[];
};

static void *create_stack(int threads) {
  struct stack *stack = zeroed(sizeof(struct stack) + (size_t)threads * sizeof(struct stack_user));
  if (!stack)
    return NULL;
  ck_stack_init(&stack->ends);
  for (int i = 0; i < threads; i++)
    stack->users[i].own = &stack->users[i].entry;
  return stack;
}

static int use_stack(void *container, int thread, int take) {
  struct stack *stack = container;
  struct stack_user *user = &stack->users[thread];
  if (take)
    return (user->own = ck_stack_pop_mpmc(&stack->ends)) != NULL;
  ck_stack_push_mpmc(&stack->ends, user->own);
  return 1;
}

static unsigned long inside_stack(void *container) {
  struct stack *stack = container;
  unsigned long count = 0;
  for (ck_stack_entry_t *at = CK_STACK_FIRST(&stack->ends); at; at = CK_STACK_NEXT(at))
    count++;
  return count;
}

/* --- a queue --------------------------------------------------------------------------------- */

struct fifo_user {
  _Alignas(LINE) ck_fifo_mpmc_entry_t entry;
  ck_fifo_mpmc_entry_t *own;
};

struct fifo {
  _Alignas(LINE) ck_fifo_mpmc_t ends;
  _Alignas(LINE) ck_fifo_mpmc_entry_t stub;
  struct fifo_user users[];
};

static void *create_fifo(int threads) {
  struct fifo *fifo = zeroed(sizeof(struct fifo) + (size_t)threads * sizeof(struct fifo_user));
  if (!fifo)
    return NULL;
  ck_fifo_mpmc_init(&fifo->ends, &fifo->stub);
  for (int i = 0; i < threads; i++)
    fifo->users[i].own = &fifo->users[i].entry;
  return fifo;
}

static int use_fifo(void *container, int thread, int take) {
  struct fifo *fifo = container;
  struct fifo_user *user = &fifo->users[thread];
  void *value;
  if (take) {
    for (int i = 0; i < MOST_LOOKS; i++)
      if (ck_fifo_mpmc_dequeue(&fifo->ends, &value, &user->own))
        return 1;
    return 0;
  }
  ck_fifo_mpmc_enqueue(&fifo->ends, user->own, user);
  return 1;
}

static unsigned long inside_fifo(void *container) {
  struct fifo *fifo = container;
  ck_fifo_mpmc_entry_t *garbage;
  void *value;
  unsigned long count = 0;
  while (ck_fifo_mpmc_dequeue(&fifo->ends, &value, &garbage))
    count++;
  return count;
}

/* --- a queue with a bound -------------------------------------------------------------------- */

struct bounded {
  _Alignas(LINE) ck_ring_t ring;
  _Alignas(LINE) ck_ring_buffer_t buffer[];
};

static void *create_ring(int threads) {
  unsigned size = 64; /* a power of two, with room for one of each thread and one more */
  while (size <= (unsigned)threads + 1)
    size *= 2;
  struct bounded *bounded = zeroed(sizeof(struct bounded) + size * sizeof(ck_ring_buffer_t));
  if (bounded)
    ck_ring_init(&bounded->ring, size);
  return bounded;
}

static int use_ring(void *container, int thread, int take) {
  struct bounded *bounded = container;
  static char value;
  void *taken;
  (void)thread;
  for (int i = 0; i < MOST_LOOKS; i++, ck_pr_stall())
    if (take ? ck_ring_dequeue_mpmc(&bounded->ring, bounded->buffer, &taken)
             : ck_ring_enqueue_mpmc(&bounded->ring, bounded->buffer, &value))
      return 1;
  return 0;
}

static unsigned long inside_ring(void *container) {
  struct bounded *bounded = container;
  return ck_ring_size(&bounded->ring);
}

const struct relock_bench_container relock_bench_containers[] = {
    {"ck faa", "counter", create_counter, free, add, counted},
    {"ck stack", "stack", create_stack, free, use_stack, inside_stack},
    {"ck fifo", "queue", create_fifo, free, use_fifo, inside_fifo},
    {"ck ring", "queue", create_ring, free, use_ring, inside_ring},
    {0}};
