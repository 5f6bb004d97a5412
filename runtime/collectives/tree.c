/* SPDX-License-Identifier: MIT
 *
 * tree: threads that arrive meet in leaves, a few in each; the last one of a leaf goes on to the
 * node above, and so on; who is the last one in the root releases it, and each releases the nodes
 * in which it was the last on its way back. Sources: Reble's thesis (2015), 3.5.2 (k-ary tree),
 * whose code is not printed; Ramos and Hoefler (2016), 3.1: as many in a node as share one line
 * well. Both have a fixed place for each thread; here a thread looks for one, first where it had
 * one before.
 *
 * A place in a leaf is taken by a compare-and-swap of the leaf's round and how many of its places
 * are taken in it. The round is what the root says: what a leaf has of an earlier one counts as
 * none.
 *
 *   leaf:   (r - 1, all) --> (r, 1) --> ... --> (r, all): its last thread goes up
 *   other nodes:  0 --> 1 --> ... --> all: its last one makes it 0 and goes up
 *   root:         its last one releases round r: r + 1 begins
 *   released of each node:  as in barrier.h, from the root down
 *
 * Invariants, beside those of barrier.h
 *  - All leaves together have as many places as the barrier has threads. So when each place is
 *    taken, the round is complete; and a thread that finds none has come too many, waits for the
 *    root, and looks again in the next round.
 *  - A successful compare-and-swap says that the round is the one that the thread took it for: it
 *    cannot be over while there was room in that leaf. Who reads a later round in a leaf than in
 *    the root has read an old root, and reads again.
 *  - Rounds overlap at a leaf in one way: threads that the root's release has reached come again
 *    while others of the leaf have not been released. These wait for the end of r, and the new ones
 *    for that of r + 1; whoever releases r + 1 there releases both.
 *
 * Cost: an atomic operation in the leaf, shared with a few; in a node above for each one below it.
 * As many transfers as central, but those of different nodes at the same time. Progress: as
 * central, but a thread that is preempted between its own release and that of its nodes delays
 * those that wait there, as one that sleeps does until it has woken up. So it is for barriers whose
 * threads all run. Memory: two lines per node.
 */
#include "../base/options.h"
#include "../base/os.h"
#include "barrier.h"

/* More leaves than this have no use: their fillers would meet in the nodes above. */
enum { FAN_IN = 8, MOST_LEAVES = 48, LEVELS = 3 };

/* Where the calling thread had a place last, in the order of the leaves; 0: not yet, else one more.
 */
static __thread uint32_t last_leaf __attribute__((tls_model("initial-exec")));

static uint32_t leaves_for(uint32_t count) {
  const uint32_t places = relock_tuning.barrier_leaf;
  const uint32_t leaves = count / places + (count % places != 0);
  return leaves < MOST_LEAVES ? leaves : MOST_LEAVES;
}

static uint32_t above(uint32_t width) { return (width + FAN_IN - 1) / FAN_IN; }

static uint32_t tree_nodes(uint32_t count) {
  uint32_t nodes = 0, width = leaves_for(count);
  for (; width > 1; width = above(width))
    nodes += width;
  return nodes + 1;
}

/* A leaf's word. */
enum { TAG_SHIFT = 32 };
static uint64_t leaf_word(uint32_t tag, uint32_t taken) {
  return (uint64_t)tag << TAG_SHIFT | taken;
}
static uint32_t tag_of(uint64_t word) { return (uint32_t)(word >> TAG_SHIFT); }
static uint32_t taken_of(uint64_t word) { return (uint32_t)word; }

static uint32_t round_of(struct relock_barrier_node *root) {
  /* Acquire: pairs with the release in relock_barrier_release(): the nodes that the round before
   * has made 0. */
  return relock_load_acquire(&root->released) & -RELOCK_BARRIER_ROUND;
}

static void tree_set_up(struct relock_barrier_node *nodes, uint32_t count) {
  const uint32_t leaves = leaves_for(count), all = tree_nodes(count);
  const uint32_t round = relock_load_relaxed(&nodes[all - 1].released);
  for (uint32_t i = 0; i < all; i++)
    nodes[i].arrived = i < leaves ? leaf_word(round, 0) : 0;
}

static bool tree_is_busy(struct relock_barrier_node *nodes, uint32_t count) {
  const uint32_t leaves = leaves_for(count), round = round_of(&nodes[tree_nodes(count) - 1]);
  for (uint32_t i = 0; i < leaves; i++) {
    const uint64_t word = relock_load_relaxed(&nodes[i].arrived);
    if (tag_of(word) == round && taken_of(word) > 0)
      return true;
  }
  return false;
}

enum place { FULL, TAKEN, LAST, OLD_ROUND };

/* Takes a place in a leaf that has so many. */
static enum place take_place(struct relock_barrier_node *leaf, uint32_t places, uint32_t round) {
  for (;;) {
    const uint64_t word = relock_load_relaxed(&leaf->arrived);
    if (tag_of(word) != round && relock_barrier_is_over(tag_of(word), round))
      return OLD_ROUND;
    const uint32_t taken = tag_of(word) == round ? taken_of(word) : 0;
    if (taken == places)
      return FULL;
    /* Acquire and release: pairs with itself, from arrival to arrival. */
    if (relock_cas_acq_rel(&leaf->arrived, word, leaf_word(round, taken + 1)))
      return taken + 1 == places ? LAST : TAKEN;
  }
}

/* Returns the leaf in which the caller has a place, and whether it is the last one there; *end is
 * when the round is over. */
static uint32_t arrive(struct relock_barrier_node *nodes, uint32_t count,
                       struct relock_barrier_node *root, uint32_t *end, bool *is_last) {
  const uint32_t leaves = leaves_for(count), places = count / leaves, more = count % leaves;
  /* At first neighbours share a leaf. */
  const uint32_t home = last_leaf ? last_leaf - 1 : relock_os->cpu() / relock_tuning.barrier_leaf;
  uint32_t leaf = home % leaves, round = round_of(root), full = 0;
  for (;;) {
    const enum place place = take_place(&nodes[leaf], places + (leaf < more), round);
    if (place == TAKEN || place == LAST) {
      last_leaf = leaf + 1;
      *end = round + RELOCK_BARRIER_ROUND;
      *is_last = place == LAST;
      return leaf;
    }
    if (place == FULL) {
      leaf = leaf + 1 == leaves ? 0 : leaf + 1;
      if (++full < leaves)
        continue;
      relock_barrier_await(root, round + RELOCK_BARRIER_ROUND, count); /* one too many */
    }
    round = round_of(root);
    full = 0;
  }
}

/* Of a level of so many nodes: the place in the level above of the node that is above this one, and
 * how many are below a node of that level. Each has nearly as many as the others. */
static uint32_t node_above(uint32_t node, uint32_t width) {
  return (uint32_t)((uint64_t)node * above(width) / width);
}
static uint32_t nodes_below(uint32_t node, uint32_t width) {
  const uint32_t nodes = above(width);
  const uint32_t from = (node * width + nodes - 1) / nodes;
  return ((node + 1) * width + nodes - 1) / nodes - from;
}

static bool tree_wait(struct relock_barrier_node *nodes, uint32_t count, uint32_t first) {
  (void)first;
  struct relock_barrier_node *filled[LEVELS];
  uint32_t end, width = leaves_for(count), depth = 0;
  bool is_last;
  uint32_t at = arrive(nodes, count, &nodes[tree_nodes(count) - 1], &end, &is_last);
  struct relock_barrier_node *node = &nodes[at], *level = nodes;
  while (is_last) {
    filled[depth++] = node;
    if (width == 1)
      break;
    const uint32_t up = node_above(at, width), below = nodes_below(up, width);
    level += width;
    width = above(width);
    at = up;
    node = &level[at];
    /* Acquire and release: pairs with itself, from arrival to arrival. */
    is_last = relock_add_acq_rel(&node->arrived, 1) + 1 == below;
    if (is_last)
      relock_store_relaxed(&node->arrived, 0);
  }
  if (!is_last)
    relock_barrier_await(node, end, count);
  while (depth > 0)
    relock_barrier_release(filled[--depth], end);
  return is_last;
}

const struct relock_barrier_algorithm relock_barrier_tree = {
    .name = "tree",
    .nodes = tree_nodes,
    .set_up = tree_set_up,
    .wait = tree_wait,
    .is_busy = tree_is_busy,
};
