/* SPDX-License-Identifier: MIT
 *
 * adaptive: a spin-then-park mutex that becomes a combiner while several threads wait. The default.
 * With a server besides: server/adaptive_rcl.c.
 *
 * What serves a mutex
 *
 *            the word was not free within a look         its queue has run empty
 *   MUTEX ------------------------------------> COMBINER --------------------------> MUTEX
 *
 * As a mutex, whoever finds the word free takes it. A thread that does not get it within its look
 * enters the queue of ccsynch, whose head, once it has the word, runs the sections that have
 * gathered behind it, asleep or not. Since both go through the same word and the same queue,
 * nothing has to be drained in between.
 *
 * How long a thread looks
 *  - A section that others can run: once. The sooner it is in the queue the more are run together.
 *    But where at most two threads run at a time there is nobody to run it together with.
 *  - Then, and for a holder, which gains nothing by a queue but its turn: as long as a wait spins,
 *    at growing distances.
 *
 * Progress and fairness: as ccsynch. A thread that looks can be passed by others that do, for as
 * long as it spins. Memory: as ccsynch. A waiter spins on the word first, then on its own line. A
 * preempted owner delays everybody; they sleep meanwhile.
 */
#include "algorithm.h"
#include "ccqueue.h"
#include "queue.h"
#include "section.h"

/* Looks for the word at distances that double, up to this part of a wait's spin: those who wait do
 * not take its line from who has it at each change. See relock_word_spin(). */
enum { DISTANCE_PART = 6 };

/* Takes the word within the wait's spins, as long as arrivals may. */
static bool barge(relock_mutex_t *mutex, struct relock_wait *wait) {
  const uint32_t longest = wait->spins / DISTANCE_PART + 1;
  for (uint32_t distance = 1; relock_queue_may_pass(mutex); distance *= 2) {
    if (relock_word_try(&mutex->relock_private.word))
      return true;
    if (distance > longest)
      distance = longest;
    for (uint32_t i = 0; i < distance; i++)
      if (!relock_wait_again(wait))
        return false;
  }
  return false;
}

static void adaptive_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (!barge(mutex, &wait))
    relock_ccsynch_lock(mutex, self, &wait);
  relock_wait_end(&wait);
}

static int adaptive_execute(relock_mutex_t *mutex, struct relock_thread *self,
                            const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (relock_wait_running() > 2 ? !relock_queue_try(mutex) : !barge(mutex, &wait))
    return relock_ccsynch_execute(mutex, self, call, &wait);
  relock_wait_end(&wait);
  return relock_run_and_release(mutex, self, call->section, call->context);
}

const struct relock_algorithm relock_adaptive = {
    .name = "adaptive", .lock = adaptive_lock, .execute = adaptive_execute, .can_move = true};
