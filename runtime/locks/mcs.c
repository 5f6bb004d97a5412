/* SPDX-License-Identifier: MIT
 *
 * mcs: the queue lock of Mellor-Crummey and Scott ("Algorithms for scalable synchronization on
 * shared-memory multiprocessors", 1991), with the queue in front of the exclusion word (queue.h).
 *
 * Progress and fairness: first come, first served, except that arrivals may take the word for up
 * to a millisecond while the head of the queue sleeps; so each waiter waits for those before it
 * and a bounded time each. Memory: a request line of each waiter. A waiter spins on its own
 * node, the head on the word. A preempted waiter delays those behind it only while it is the
 * head and spinning; asleep, it is passed.
 */
#include "algorithm.h"
#include "queue.h"

const struct relock_algorithm relock_mcs = {.name = "mcs", .lock = relock_queue_lock};
