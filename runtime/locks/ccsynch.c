/* SPDX-License-Identifier: MIT
 *
 * ccsynch: combining after Fatourou and Kallimanis, "Revisiting the combining synchronization
 * technique" (2012). Threads queue their sections; the head of the queue, the combiner, runs its
 * own and then those behind it, up to a bound, so that the data stays in its cache.
 *
 * Departures from the paper's CC-Synch
 *  - Nodes lie on the clients' stacks, as in the paper's DSM-Synch, and not in a pool from which
 *    a thread swaps one node for another. That needs no memory per thread and lets sections nest,
 *    at the price of one compare-and-swap where the queue ends. Unlike the paper's DSM-Synch the
 *    combiner also runs the last section of the queue.
 *  - The combiner owns the mutex's exclusion word while it runs sections, so that holders,
 *    which queue as well, and timed locks mix with them. It stops at a holder's node.
 *  - Without a queue, a thread takes the word at once and runs its section.
 *  - Each section runs with its own client's context and, if asked, thread pointer, and only by
 *    a combiner whose stack is at least as large as its client's.
 *
 * Progress and fairness: as mcs; a combiner works for others for at most BATCH sections.
 * Memory: a node on the stack of each waiter. A waiter spins on its own node. A preempted combiner
 * delays the whole queue, as a preempted holder does.
 *
 * Invariant: a client's DONE comes after its result, and for the last section of a batch after
 * the word is released: its client may free the mutex at once. Clients served before are
 * followed by others that still use the mutex.
 */
#include "../base/class.h"
#include "../base/stats.h"
#include "algorithm.h"
#include "queue.h"
#include "section.h"

/* The paper's bound is 3h for h hardware threads, where the thesis of Lozi (2014) found latency
 * flat between 1 and 500 and fairness the only thing at stake. h = 48 is its machine. */
enum { BATCH = 144 };

/* Sleeping clients to wake when the word is released; until then waking would be done under the
 * lock. Addresses only: the clients may be gone. */
struct wakes {
  unsigned count;
  const uint32_t *futex[BATCH + 1];
};

static void add_wake(struct wakes *wakes, const uint32_t *futex) {
  if (futex)
    wakes->futex[wakes->count++] = futex;
}

/* Runs the combiner's own section and those behind it. The caller owns the word and is the head;
 * afterwards it is neither. */
static int combine(relock_mutex_t *mutex, struct relock_thread *self, struct relock_request *own,
                   const struct relock_call *call) {
  struct wakes wakes;
  wakes.count = 0;
  const relock_class_t *lock_class = relock_class_of(mutex);
  relock_store_relaxed(&mutex->relock_private.executing, 1);
  int result = call->section(call->context);

  struct relock_request *last = NULL; /* section run, not yet granted */
  struct relock_request *next = relock_queue_leave(mutex, own);
  unsigned served = 0;
  while (next && next->section && served < BATCH && relock_thread_has_room(self, next)) {
    if (last)
      add_wake(&wakes, relock_queue_grant(last, RELOCK_DONE));
    last = next;
    relock_request_run(last);
    served++;
    next = relock_queue_leave(mutex, last);
  }
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_word_release(&mutex->relock_private.word);
  if (next)
    add_wake(&wakes, relock_queue_make_head(mutex, next));
  if (last)
    add_wake(&wakes, relock_queue_grant(last, RELOCK_DONE));
  for (unsigned i = wakes.count; i-- > 0;) /* the next combiner is among the last */
    relock_os->futex_wake(wakes.futex[i], 1);
  if (served)
    relock_count_batch(self, lock_class, served);
  return result;
}

static int execute(relock_mutex_t *mutex, struct relock_thread *self,
                   const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *own = relock_request_take(self);
  relock_request_fill(own, self, call);
  uint32_t state = relock_queue_enter(mutex, own, &wait);
  if (state == RELOCK_HEAD)
    relock_queue_take_word(mutex, &wait);
  relock_wait_end(&wait);
  int result =
      state == RELOCK_DONE ? relock_request_result(own, call) : combine(mutex, self, own, call);
  relock_request_give(self);
  return result;
}

const struct relock_algorithm relock_ccsynch = {
    .name = "ccsynch", .lock = relock_queue_lock, .execute = execute};
