/* SPDX-License-Identifier: MIT
 *
 * The queue of the CLH lock, shared by clh and the hierarchical locks: Craig, "Building FIFO and
 * priority-queuing spin locks from atomic swap" (1993), and Magnusson, Landin, Hagersten, "Queue
 * locks on cache coherent multiprocessors" (1994). There are no links. A thread swaps its node in
 * as the tail and waits on the node that it got, its predecessor's, until that is granted; then
 * that node is its own and its old one belongs to its successor. So a thread needs no reference
 * to those behind it, and entering and leaving are one atomic operation each.
 *
 * In place of the textbook's initial node the tail is 0 where there is no queue: who finds that is
 * the head at once, and a thread that leaves with its node still at the tail swings the tail back
 * and keeps the node. Nodes belong to no thread (relock_node_take()).
 *
 * States of a node, in `state`: what its owner tells its successor, which sleeps on it.
 *
 *             the successor sleeps         granted, by the owner, which leaves
 *   WAITING ------------------------> PARKED ------+--> HEAD, or another state above it
 *      `-------------------------------------------'
 *
 * Invariants: a node has one successor at most; from its grant on it belongs to the successor, and
 * the granter touches nothing of it but the address, for a wake-up.
 */
#ifndef RELOCK_LOCKS_CLHQUEUE_H
#define RELOCK_LOCKS_CLHQUEUE_H

#include "../base/thread.h"
#include "../base/wait.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

/* A node to enter with. Null: no memory. */
struct relock_request *relock_clh_node(struct relock_thread *self);

/* Puts a node at the tail, or the last of a chain whose nodes wait for one another already.
 * Returns the predecessor of its first, or null: the caller is the head. */
struct relock_request *relock_clh_append(uintptr_t *tail, struct relock_request *last);

/* Waits for the grant of a predecessor's node and keeps the node. Returns the state granted. */
uint32_t relock_clh_await(struct relock_request *previous, struct relock_thread *self,
                          struct relock_wait *wait);

/* The head leaves. True: nobody is behind it, and its node is kept. False: its successor waits,
 * or is about to, and is to be granted the node. */
bool relock_clh_leave(uintptr_t *tail, struct relock_request *node, struct relock_thread *self);

#endif
