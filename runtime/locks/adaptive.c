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
 *  - A holder gains nothing by a queue but its turn, and handing on a queue takes longer than
 *    letting whoever happens to look have the word. So holders compete, queue or not: as long as
 *    it takes for each thread that runs to have a section, at growing distances. Then they queue.
 *  - The head of the queue closes the word to holders that compete once it has looked for it for
 *    as long as a wait spins. So a turn is lost for a few microseconds only.
 *
 * Where threads outnumber processors, those who wait sleep. The head of a queue of sleepers takes
 * a wake-up's time, or that of its processor's other threads, and nobody behind it can go on
 * sooner: with 32 threads on 16 processors and 10,000 cycles between sections, four of them worked.
 * So holders sleep for the word itself, where each release wakes somebody, and queue after open_us.
 * But threads that do little else than take the lock keep it busy by few, and are best served by as
 * few as do: they queue at once, and the queue is where the others sleep until they have their
 * turn of open_us, as in Dice's "Malthusian locks" (2017).
 *
 * Progress and fairness: as ccsynch. A thread that looks can be passed by others that do, for as
 * long as it spins; one that sleeps for the word, for open_us. Memory: as ccsynch. A waiter spins
 * on the word first, then on its own line. A preempted owner delays everybody; they sleep
 * meanwhile.
 */
#include "../base/options.h"
#include "algorithm.h"
#include "batch.h"
#include "ccqueue.h"
#include "queue.h"
#include "section.h"

/* So many threads are no queue: where no more run at a time. */
enum { PAIR = 2 };

/* Takes the word within the wait's spins, as long as arrivals may, at growing distances. */
static bool barge(relock_mutex_t *mutex, struct relock_wait *wait) {
  struct relock_distances distances = relock_word_distances(wait);
  while (relock_queue_may_pass(mutex)) {
    if (relock_word_try(&mutex->relock_private.word))
      return true;
    if (!relock_word_await_next_look(&distances, wait))
      return false;
  }
  return false;
}

/* Sleeps for the word beside the queue, for about open_us. */
static bool sleep_for_word(relock_mutex_t *mutex, struct relock_wait *wait) {
  uint32_t *word = &mutex->relock_private.word;
  const uint64_t start = relock_os->now_ns();
  do {
    if (relock_word_park(word, wait, CLOCK_MONOTONIC, NULL, NULL))
      return true;
  } while (relock_os->now_ns() - start < 1000ull * relock_tuning.open_us);
  relock_os->futex_wake(word, 1); /* who is woken instead marks the word for the others */
  return false;
}

/* Whether the thread had the lock so lately that a few like it keep the lock busy: within half of
 * the time that a wait spins. A guess. */
static bool is_back_soon(const struct relock_thread *self) {
  const uint64_t spins_ticks = relock_batch_ticks(relock_tuning.spin_ns) / 1000;
  return relock_batch_clock() - self->had_word < spins_ticks / 2;
}

static bool compete(relock_mutex_t *mutex, struct relock_wait *wait, bool has_room) {
  wait->spins = relock_wait_spins_among_others();
  return relock_queue_compete(&mutex->relock_private.word, &mutex->relock_private.open, wait) ||
         (!has_room && sleep_for_word(mutex, wait));
}

static void adaptive_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  const bool has_room = relock_wait_has_room();
  const bool competes = relock_wait_running() > PAIR && (has_room || !is_back_soon(self));
  if (!(competes ? compete(mutex, &wait, has_room) : barge(mutex, &wait)))
    relock_ccsynch_lock(mutex, self, &wait);
  if (!has_room)
    self->had_word = relock_batch_clock();
  relock_wait_end(&wait);
}

static int adaptive_execute(relock_mutex_t *mutex, struct relock_thread *self,
                            const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  if (relock_wait_running() > PAIR ? !relock_queue_try(mutex) : !barge(mutex, &wait))
    return relock_ccsynch_execute(mutex, self, call, &wait);
  relock_wait_end(&wait);
  return relock_run_and_release(mutex, self, call->section, call->context);
}

const struct relock_algorithm relock_adaptive = {
    .name = "adaptive", .lock = adaptive_lock, .execute = adaptive_execute, .can_move = true};
