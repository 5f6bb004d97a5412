/* SPDX-License-Identifier: MIT
 *
 * clh: the queue lock of Craig (1993) and of Magnusson, Landin and Hagersten (1994), with the
 * queue in front of the exclusion word. clhqueue.h has the protocol, the states and the
 * invariants.
 *
 * Departures from the source
 *  - Only the head of the queue waits for the word, and it leaves the queue when it has the word;
 *    the textbook's owner stays until it unlocks and keeps its node until then. So a node is
 *    needed while waiting only, and locks nest in any order.
 *  - While the head sleeps, arrivals may take the word (queue.h): the textbook's strict order
 *    costs a context switch per section where threads outnumber processors.
 *  - Waiters sleep in the end.
 *
 * Progress and fairness: first come, first served, except that arrivals may take the word for up
 * to a millisecond while the head sleeps. Memory: a node of 64 bytes for each waiter. A waiter
 * spins on its predecessor's node, the head on the word. A preempted waiter delays those behind
 * it only while it is the head and spinning; asleep, it is passed. A thread that dies holding the
 * lock leaves the word taken for ever.
 */
#include "algorithm.h"
#include "clhqueue.h"
#include "queue.h"

static void wait_in_queue(relock_mutex_t *mutex, struct relock_thread *self,
                          struct relock_request *node, struct relock_wait *wait) {
  uintptr_t *tail = &mutex->relock_private.tail;
  struct relock_request *previous = relock_clh_append(tail, node);
  if (previous)
    relock_clh_await(previous, self, wait);
  relock_queue_take_word(mutex, wait);
  if (relock_clh_leave(tail, node, self))
    return;
  const uint32_t *futex = relock_queue_make_head(mutex, node);
  if (futex)
    relock_os->futex_wake(futex, 1);
}

static void clh_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (!relock_queue_pass(mutex, &wait)) {
    struct relock_request *node = relock_clh_node(self);
    if (node)
      wait_in_queue(mutex, self, node, &wait);
    else /* no memory */
      relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  }
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_clh = {.name = "clh", .lock = clh_lock};
