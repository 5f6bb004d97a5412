/* SPDX-License-Identifier: MIT
 *
 * Barriers: what is called, where their nodes come from, and which algorithm a barrier has. See
 * barrier.h for states and invariants.
 */
#define _GNU_SOURCE
#include "barrier.h"

#include "../base/guard.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Nothing calls process/ by name, which stands above this room. A program that is linked statically
 * gets it by this, as by mutex/choice.c: the guard of the nodes that are free is to pass a fork. */
extern const char relock_process_is_linked RELOCK_HIDDEN;
__attribute__((used)) static const char *const process = &relock_process_is_linked;

/* --- waiting --------------------------------------------------------------------------------- */

enum { ASLEEP = 1 }; /* of `released` */

void relock_barrier_await(struct relock_barrier_node *node, uint32_t end, uint32_t count) {
  uint32_t *released = &node->released;
  struct relock_wait wait;
  bool waits = false;
  for (;;) {
    /* Acquire: pairs with the release in relock_barrier_release(). */
    const uint32_t found = relock_load_acquire(released);
    if (relock_barrier_is_over(found, end))
      return;
    if (!waits) {
      relock_wait_begin(&wait, NULL, NULL);
      wait.spins = relock_wait_spins_for(count);
      waits = true;
    }
    if (relock_wait_again(&wait))
      continue;
    if (found & ASLEEP || relock_cas_relaxed(released, found, found | ASLEEP))
      relock_wait_park(&wait, released, found | ASLEEP, CLOCK_MONOTONIC, NULL);
  }
}

void relock_barrier_release(struct relock_barrier_node *node, uint32_t end) {
  uint32_t *released = &node->released;
  uint32_t found =
      end - RELOCK_BARRIER_ROUND; /* without a look, which would bring the line twice */
  /* Release: pairs with the acquire in relock_barrier_await(). */
  while (!relock_cas_release(released, found, end)) {
    found = relock_load_relaxed(released);
    if (relock_barrier_is_over(found, end))
      return;
  }
  if (RELOCK_UNLIKELY(found & ASLEEP))
    relock_os->futex_wake(released, INT_MAX);
}

enum { TRANSFERS = 40 }; /* of a cache line, while anybody spins. A guess. */

void relock_barrier_back_off(uint32_t missing, uint32_t count) {
  const uint64_t spins = relock_wait_spins_for(count), most = missing * (spins / count / TRANSFERS);
  for (uint32_t left = (uint32_t)(most < spins ? most : spins); left > 0;)
    left -= relock_pauses(left);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* Barriers that are free, by the number of their nodes, a power of two. Guarded by
 * RELOCK_GUARD_BARRIERS. */
enum { SIZES = 7, TOGETHER = 4096 };
static struct relock_barrier_node *free_nodes[SIZES];
_Static_assert(1 << (SIZES - 1) == RELOCK_BARRIER_NODES, "the largest has its list");

static uint32_t size_class(uint32_t nodes) {
  uint32_t size = 0;
  while (1u << size < nodes)
    size++;
  return size;
}

static void put(struct relock_barrier_node *nodes, uint32_t size) {
  nodes->next_free = free_nodes[size];
  free_nodes[size] = nodes;
}

/* Under the guard. Null: no memory. */
static struct relock_barrier_node *reserve(uint32_t size) {
  const size_t bytes = sizeof(struct relock_barrier_node) << size;
  const size_t all = bytes < TOGETHER ? TOGETHER : bytes;
  struct relock_barrier_node *nodes = relock_os->reserve(all);
  for (size_t i = bytes; nodes && i < all; i += bytes)
    put(nodes + i / sizeof *nodes, size);
  return nodes;
}

static struct relock_barrier_node *take_nodes(uint32_t size) {
  relock_guard_take(RELOCK_GUARD_BARRIERS);
  struct relock_barrier_node *nodes = free_nodes[size];
  if (nodes)
    free_nodes[size] = nodes->next_free;
  else
    nodes = reserve(size);
  relock_guard_release(RELOCK_GUARD_BARRIERS);
  return nodes;
}

static void give_nodes(struct relock_barrier_node *nodes, uint32_t size) {
  relock_guard_take(RELOCK_GUARD_BARRIERS);
  put(nodes, size);
  relock_guard_release(RELOCK_GUARD_BARRIERS);
}

/* The latest round of any node: of the root. */
static uint32_t latest_round(struct relock_barrier_node *nodes, uint32_t count) {
  uint32_t latest = relock_load_relaxed(&nodes[0].released);
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t released = relock_load_relaxed(&nodes[i].released);
    if (relock_barrier_is_over(released, latest))
      latest = released;
  }
  return latest & -RELOCK_BARRIER_ROUND;
}

/* --- which algorithm ------------------------------------------------------------------------- */

static const struct relock_barrier_algorithm *const algorithms[] = {
#define RELOCK_BARRIER_ALGORITHM(name) &relock_barrier_##name,
#include "barriers.def"
};
const char relock_barrier_algorithms[] =
#define RELOCK_BARRIER_ALGORITHM(name) #name " "
#include "barriers.def"
    ;
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static uint32_t chosen; /* its place and one more; 0: none */
static uint32_t options_read;

bool relock_barrier_choose(const char *name) {
  uint32_t found = 0;
  for (uint32_t i = 0; name && i < ALGORITHMS; i++)
    if (strcmp(algorithms[i]->name, name) == 0)
      found = i + 1;
  relock_store_relaxed(&chosen, found);
  return !name || found > 0;
}

void relock_barrier_options_read(void) {
  if (relock_load_relaxed(&options_read))
    return;
  const char *name = secure_getenv("RELOCK_BARRIER");
  if (name && *name && !relock_barrier_choose(name))
    relock_usage_error("RELOCK_BARRIER: unknown algorithm '%s'; the algorithms are: %s", name,
                       relock_barrier_algorithms);
  relock_store_relaxed(&options_read, 1);
}

/* From so many threads on a tree is faster on the simulated machines, see doc/collectives.md. Where
 * not all can run at once those who sleep in its leaves would wait for others to be woken first. */
enum { TREE_FROM = 16 };

static const struct relock_barrier_algorithm *algorithm_for(uint32_t count) {
  relock_barrier_options_read();
  const uint32_t place = relock_load_relaxed(&chosen);
  if (place > 0)
    return algorithms[place - 1];
  return count >= TREE_FROM && relock_wait_spins_for(count) > 0 ? &relock_barrier_tree
                                                                : &relock_barrier_central;
}

/* --- what is called -------------------------------------------------------------------------- */

int relock_barrier_init(relock_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                        unsigned count) {
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes && pthread_barrierattr_getpshared(attributes, &shared) != 0)
    return EINVAL;
  if (count == 0 || count > INT_MAX)
    return EINVAL;
  if (shared != PTHREAD_PROCESS_PRIVATE)
    return ENOTSUP;
  const struct relock_barrier_algorithm *algorithm = algorithm_for(count);
  const uint32_t number = algorithm->nodes(count), size = size_class(number);
  struct relock_barrier_node *nodes = take_nodes(size);
  if (!nodes)
    return ENOMEM;
  const uint32_t first = latest_round(nodes, 1u << size);
  for (uint32_t i = 0; i < number; i++)
    relock_store_relaxed(&nodes[i].released, first);
  algorithm->set_up(nodes, count);
  barrier->relock_private.nodes = nodes;
  barrier->relock_private.count = count;
  barrier->relock_private.first = first;
  barrier->relock_private.algorithm = algorithm;
  return 0;
}

int relock_barrier_wait(relock_barrier_t *barrier) {
  const struct relock_barrier_algorithm *algorithm = barrier->relock_private.algorithm;
  if (!algorithm)
    return EINVAL;
  return algorithm->wait(barrier->relock_private.nodes, barrier->relock_private.count,
                         barrier->relock_private.first)
             ? PTHREAD_BARRIER_SERIAL_THREAD
             : 0;
}

int relock_barrier_destroy(relock_barrier_t *barrier) {
  const struct relock_barrier_algorithm *algorithm = barrier->relock_private.algorithm;
  if (!algorithm)
    return EINVAL;
  struct relock_barrier_node *nodes = barrier->relock_private.nodes;
  const uint32_t count = barrier->relock_private.count, number = algorithm->nodes(count);
  if (algorithm->is_busy(nodes, count))
    return EBUSY;
  const uint32_t end = latest_round(nodes, number);
  for (uint32_t i = 0; i < number; i++)
    relock_barrier_await(&nodes[i], end, count);
  barrier->relock_private.algorithm = NULL;
  give_nodes(nodes, size_class(number));
  return 0;
}
