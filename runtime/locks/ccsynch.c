/* SPDX-License-Identifier: MIT
 *
 * ccsynch: combining after CC-Synch of Fatourou and Kallimanis, "Revisiting the combining
 * synchronization technique" (2012), made for machines with coherent caches. Threads queue their
 * sections by one swap each (ccqueue.h has the protocol, the states and the invariants); the head
 * of the queue, the combiner, runs its own and then those behind it, up to a bound, so that the
 * data stays in its cache.
 *
 * Departures from the paper
 *  - The queue is in front of the mutex's exclusion word, which the combiner owns while it runs
 *    sections, so that holders, which queue as well, and timed locks mix with them. It stops at a
 *    holder's line and makes it the head. Without a queue, a thread takes the word at once, and
 *    the mutex has no line: zero-filled memory is a lock.
 *  - Lines come from a pool and are not tied to a thread, so that sections nest and mutexes are
 *    freed at any time.
 *  - Each section runs with its own client's context and, if asked, thread pointer, and only by
 *    a combiner whose stack has room for it.
 *
 * Progress and fairness: first come, first served, except that arrivals may take the word for up
 * to a millisecond while a head sleeps that follows a holder, or that waits for one (queue.h); a
 * combiner works for others for at most
 * `batch` sections or `batch_us`. Memory: a line of 64 bytes while the mutex has waiters, and one
 * for each of them. A waiter spins on its line, which its predecessor has brought. A preempted
 * combiner delays the whole queue, as a preempted holder does; a thread preempted between its swap
 * and its request delays those behind it, once the queue is served up to it. A thread that dies
 * while it runs sections (by leaving one, which relock.h forbids) leaves the word taken for ever.
 */
#include "../base/class.h"
#include "../base/word.h"
#include "algorithm.h"
#include "ccqueue.h"
#include "queue.h"
#include "section.h"

void relock_ccsynch_lock(relock_mutex_t *mutex, struct relock_thread *self,
                         struct relock_wait *wait) {
  struct relock_cc cc;
  uintptr_t *tail = &mutex->relock_private.tail;
  if (relock_cc_enter(&cc, tail, self, NULL, wait) == RELOCK_HEAD) {
    relock_queue_take_word(mutex, wait);
    if (relock_cc_leave(&cc, tail, self)) {
      const uint32_t *futex = relock_queue_make_head(mutex, cc.next);
      if (futex)
        relock_os->futex_wake(futex, 1);
    }
  } else {
    relock_word_wait(&mutex->relock_private.word, wait, CLOCK_MONOTONIC, NULL);
  }
  if (cc.own)
    relock_node_give(self, cc.own);
}

/* Nobody passes the next head, asleep or not: it runs the sections of all that wait, which costs
 * each of them less than its wake-up would if others came first. */
static int combine(relock_mutex_t *mutex, struct relock_thread *self, struct relock_cc *cc,
                   const struct relock_call *call) {
  struct relock_batch batch;
  int result = relock_cc_combine(cc, &batch, mutex, &mutex->relock_private.tail, self, call);
  bool more = relock_cc_leave(cc, &mutex->relock_private.tail, self);
  relock_batch_release(&batch, mutex);
  if (more)
    relock_wakes_add(&batch.wakes, relock_queue_grant(cc->next, RELOCK_HEAD));
  relock_batch_end(&batch);
  return result;
}

int relock_ccsynch_execute(relock_mutex_t *mutex, struct relock_thread *self,
                           const struct relock_call *call, struct relock_wait *wait) {
  struct relock_cc cc;
  uint32_t state = relock_cc_enter(&cc, &mutex->relock_private.tail, self, call, wait);
  if (state == RELOCK_HEAD)
    relock_queue_take_word(mutex, wait);
  else if (state == RELOCK_WAITING)
    relock_word_wait(&mutex->relock_private.word, wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(wait);

  int result;
  if (state == RELOCK_HEAD)
    result = combine(mutex, self, &cc, call);
  else if (state == RELOCK_DONE)
    result = relock_request_result(cc.own, call);
  else
    result = relock_run_and_release(mutex, self, call->section, call->context);
  if (cc.own)
    relock_node_give(self, cc.own);
  return result;
}

static void ccsynch_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (!relock_queue_pass(mutex, &wait))
    relock_ccsynch_lock(mutex, self, &wait);
  relock_wait_end(&wait);
}

static int ccsynch_execute(relock_mutex_t *mutex, struct relock_thread *self,
                           const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  return relock_ccsynch_execute(mutex, self, call, &wait);
}

const struct relock_algorithm relock_ccsynch = {
    .name = "ccsynch", .lock = ccsynch_lock, .execute = ccsynch_execute};
