/* SPDX-License-Identifier: MIT
 *
 * dsmsynch: combining after DSM-Synch of Fatourou and Kallimanis, "Revisiting the combining
 * synchronization technique" (2012). Threads queue their sections; the head of the queue, the
 * combiner, runs its own and then those behind it, up to a bound, so that the data stays in its
 * cache. Nodes are the clients' own lines, linked by the successor, so that each waits on memory
 * of its own: what the paper designed for machines without coherent caches.
 *
 * States of a client: those of queue.h. DONE: the section has been run. HEAD: the client takes
 * the word and combines.
 *
 * Departures from the paper
 *  - The queue is in front of the mutex's exclusion word, which the combiner owns while it runs
 *    sections, so that holders, which queue as well, and timed locks mix with them. It stops at a
 *    holder's node and makes it the head. Without a queue, a thread takes the word at once.
 *  - The combiner also runs the last section of the queue, at the price of waiting for a
 *    successor that has swapped itself in and is not linked yet.
 *  - A node's link is not reset after the handover, as in the authors' code and against the
 *    printed one: the node may be in use again by then, and the reset would lose its new link.
 *  - Each section runs with its own client's context and, if asked, thread pointer, and only by
 *    a combiner whose stack has room for it.
 *
 * Progress and fairness: as mcs; a combiner works for others for at most `batch` sections or
 * `batch_us`. Memory: none per mutex, a request line of each waiter's record. A waiter spins on its
 * own line. A preempted combiner delays the whole queue, as a preempted holder does, and so does a
 * thread preempted between entering the queue and linking itself, once the queue is served up to
 * it. A thread that dies while it runs sections (by leaving one, which relock.h forbids) leaves the
 * word taken for ever.
 *
 * Invariant: that of batch.h.
 */
#include "algorithm.h"
#include "batch.h"
#include "queue.h"

/* Runs the combiner's own section and those behind it. The caller owns the word and is the head;
 * afterwards it is neither. */
static int dsmsynch_combine(relock_mutex_t *mutex, struct relock_thread *self,
                            struct relock_request *own, const struct relock_call *call) {
  struct relock_batch batch;
  int result = relock_batch_begin(&batch, mutex, self, call);
  struct relock_request *next = relock_queue_leave(mutex, own);
  while (next && relock_batch_takes(&batch, next)) {
    relock_batch_run(&batch, next);
    next = relock_queue_leave(mutex, next);
  }
  relock_batch_release(&batch, mutex);
  if (next)
    relock_wakes_add(&batch.wakes, relock_queue_make_head(mutex, next));
  relock_batch_end(&batch);
  return result;
}

static int dsmsynch_execute(relock_mutex_t *mutex, struct relock_thread *self,
                            const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *own = relock_request_take(self);
  relock_request_fill(own, self, call);
  uint32_t state = relock_queue_enter(mutex, own, &wait);
  if (state == RELOCK_HEAD)
    relock_queue_take_word(mutex, &wait);
  relock_wait_end(&wait);
  int result = state == RELOCK_DONE ? relock_request_result(own, call)
                                    : dsmsynch_combine(mutex, self, own, call);
  relock_request_give(self);
  return result;
}

const struct relock_algorithm relock_dsmsynch = {
    .name = "dsmsynch", .lock = relock_queue_lock, .execute = dsmsynch_execute};
