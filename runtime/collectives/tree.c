/* SPDX-License-Identifier: MIT
 *
 * tree: threads that arrive meet in leaves, a few in each; the last one of a leaf goes on to the
 * node above, and so on; who is the last one in the root releases it, and each releases the nodes
 * in which it was the last on its way back. Sources: Reble's thesis (2015), 3.5.2 (k-ary tree),
 * whose code is not printed; Ramos and Hoefler (2016), 3.1: as many in a node as share one line
 * well.
 *
 * Both number their threads. Here a thread takes a place for each round, by a compare-and-swap of
 * the last round for which it was taken. The place is a line of its own; a thread begins where it
 * had its last one, and as long as the same threads come each finds its own in its cache. A ticket
 * would be no such number: all would draw it from one line, and then the tree had nothing to save.
 *
 *   place:  r - 1 --> r                 taken for round r, which the root says
 *   node:   0 --> 1 --> ... --> all     its last one makes it 0 and goes up
 *   root:   its last one releases round r: r + 1 begins
 *   released of each node:  as in barrier.h, from the root down
 *
 * Invariants, beside those of barrier.h
 *  - There are as many places as a round has threads. So when all are taken, the round is going to
 *    be complete; and a thread that finds none has come too many, waits for the root, and looks
 *    again in the next round.
 *  - A successful compare-and-swap says that the round is the one that the thread took it for: it
 *    cannot be over while there was a place. Who finds a later round in a place than in the root
 *    has read an old root, and reads again.
 *  - A place has one node; so as many arrive in each node in each round as it has below it.
 *  - Rounds overlap at a node in one way: threads that the root's release has reached come again
 *    while others of the node have not been released. These wait for the end of r, and the new ones
 *    for that of r + 1; whoever releases r + 1 there releases both.
 *
 * Cost: an atomic operation in the own place, and one in the leaf, shared with a few; one in a node
 * above for each one below it. As many transfers as central, but those of different nodes at the
 * same time. Progress: as central, but a thread that is preempted between its own release and that
 * of its nodes delays those that wait there, as one that sleeps does until it has woken up. So it
 * is for barriers whose threads all run. Memory: a line per thread, and two per node.
 */
#include "../base/options.h"
#include "../base/os.h"
#include "barrier.h"

enum { LEVELS = 10 };
_Static_assert(RELOCK_BARRIER_MOST <= 1 << LEVELS, "two below each node, at least");

/* A node for each so many below it, or less. */
static uint32_t above(uint32_t width) {
  const uint32_t fan_in = relock_tuning.barrier_fan;
  return (width + fan_in - 1) / fan_in;
}

static uint32_t tree_places(uint32_t count) { return count; }

static uint32_t tree_nodes(uint32_t count) {
  uint32_t nodes = 0, width = above(count);
  for (; width > 1; width = above(width))
    nodes += width;
  return nodes + 1;
}

static struct relock_barrier_node *root_of(const relock_barrier_t *barrier) {
  return &barrier->relock_private.nodes[tree_nodes(barrier->relock_private.count) - 1];
}

static uint32_t round_of(struct relock_barrier_node *root) {
  /* Acquire: pairs with the release in relock_barrier_release(), for the nodes that the round
   * before has made 0. */
  return relock_load_acquire(&root->released) & -RELOCK_BARRIER_ROUND;
}

static void tree_set_up(relock_barrier_t *barrier) {
  const uint32_t count = barrier->relock_private.count;
  for (uint32_t i = 0; i < tree_nodes(count); i++)
    barrier->relock_private.nodes[i].line.value = 0;
  for (uint32_t i = 0; i < count; i++)
    barrier->relock_private.places[i].value = barrier->relock_private.first - RELOCK_BARRIER_ROUND;
}

static bool tree_is_busy(const relock_barrier_t *barrier) {
  const uint32_t round = round_of(root_of(barrier));
  for (uint32_t i = 0; i < barrier->relock_private.count; i++)
    if (relock_load_relaxed(&barrier->relock_private.places[i].value) == round)
      return true;
  return false;
}

/* Where the calling thread had a place last, and one more; 0: nowhere yet. */
static __thread uint32_t last_place __attribute__((tls_model("initial-exec")));

/* Returns the place that the caller has, and in *end when the round is over. */
static uint32_t take_place(struct relock_barrier_line *places, uint32_t count,
                           struct relock_barrier_node *root, uint32_t *end) {
  /* At first threads on neighbouring processors share a leaf. */
  uint32_t at = (last_place ? last_place - 1 : relock_os->cpu()) % count, tried = 0;
  uint32_t round = round_of(root);
  for (;;) {
    const uint64_t taken = relock_load_relaxed(&places[at].value);
    if ((uint32_t)taken == round) {
      at = at + 1 == count ? 0 : at + 1;
      if (++tried < count)
        continue;
      relock_barrier_await(&root->released, round + RELOCK_BARRIER_ROUND, count); /* one too many */
    } else if (!relock_barrier_is_over((uint32_t)taken, round) &&
               relock_cas_relaxed(&places[at].value, taken, round)) {
      last_place = at + 1;
      *end = round + RELOCK_BARRIER_ROUND;
      return at;
    }
    round = round_of(root);
    tried = 0;
  }
}

/* Of a level of so many: the place in the level above of the node that is above this one, and how
 * many are below a node of that level. Each has nearly as many as the others. */
static uint32_t node_above(uint32_t at, uint32_t width) {
  return (uint32_t)((uint64_t)at * above(width) / width);
}
static uint32_t number_below(uint32_t node, uint32_t width) {
  const uint32_t nodes = above(width);
  const uint32_t from = (node * width + nodes - 1) / nodes;
  return ((node + 1) * width + nodes - 1) / nodes - from;
}

static bool tree_wait(const relock_barrier_t *barrier) {
  const uint32_t count = barrier->relock_private.count;
  struct relock_barrier_node *level = barrier->relock_private.nodes, *node, *filled[LEVELS];
  uint32_t end, at = take_place(barrier->relock_private.places, count, root_of(barrier), &end);
  uint32_t width = count, depth = 0;
  bool is_last;
  do {
    const uint32_t up = node_above(at, width), below = number_below(up, width);
    node = &level[up];
    /* Acquire and release: pairs with itself, from arrival to arrival. */
    is_last = relock_add_acq_rel(&node->line.value, 1) + 1 == below;
    if (is_last) {
      relock_store_relaxed(&node->line.value, 0);
      filled[depth++] = node;
    }
    at = up;
    width = above(width);
    level += width;
  } while (is_last && width > 1);
  if (!is_last)
    relock_barrier_await(&node->released, end, count);
  while (depth > 0)
    relock_barrier_release(&filled[--depth]->released, end - RELOCK_BARRIER_ROUND, end);
  return is_last;
}

const struct relock_barrier_algorithm relock_barrier_tree = {
    .name = "tree",
    .nodes = tree_nodes,
    .places = tree_places,
    .set_up = tree_set_up,
    .wait = tree_wait,
    .is_busy = tree_is_busy,
};
