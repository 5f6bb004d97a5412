/* SPDX-License-Identifier: MIT
 *
 * mcs: the queue lock of Mellor-Crummey and Scott ("Algorithms for scalable synchronization on
 * shared-memory multiprocessors", 1991), with the queue in front of the exclusion word (queue.h).
 *
 * Progress and fairness: first come, first served, except that arrivals may take the word for up
 * to a millisecond while the head of the queue sleeps; so each waiter waits for those before it
 * and a bounded time each. Memory: a node on the stack of each waiter. A waiter spins on its own
 * node, the head on the word. A preempted waiter delays those behind it only while it is the
 * head and spinning; asleep, it is passed.
 */
#include "algorithm.h"
#include "queue.h"
#include "section.h"

static int execute(relock_mutex_t *mutex, relock_section_t section, void *context,
                   bool as_client) {
  (void)as_client; /* always the client itself */
  if (!relock_queue_try(mutex))
    relock_queue_lock(mutex);
  return relock_run_and_release(mutex, section, context);
}

const struct relock_algorithm relock_mcs = {"mcs", relock_queue_lock, execute};
