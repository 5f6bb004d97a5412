/* SPDX-License-Identifier: MIT
 *
 * adaptive: a spin-then-park mutex that becomes a combiner while several threads wait. The default.
 * With a server besides: server/adaptive_rcl.c.
 *
 * What serves a mutex
 *
 *            the word was not free within a spin          its queue has run empty
 *   MUTEX ------------------------------------> COMBINER --------------------------> MUTEX
 *
 * As a mutex, whoever finds the word free takes it. A thread that does not get it within its spin
 * enters the queue of queue.h, and the head of the queue, once it has the word, runs the sections
 * that have gathered behind it, asleep or not, and wakes their clients afterwards. Since both go
 * through the same word and the same queue, nothing has to be drained in between.
 *
 *  - While the head is awake and its successors too, arrivals queue up: there are processors for
 *    all, and combining is what scales.
 *  - While the head sleeps, arrivals may take the word (`open`), as handing it to a sleeper costs
 *    a context switch. After open_us (tunables.def) as head it closes the queue and gets the next
 *    turn.
 *  - Sleeping holders behind the head cannot be served by it. If the head was kept waiting for
 *    long, presumably by an owner that was preempted, they are released from the queue together,
 *    to try again: one after the other, each would wait for a time slice. Where sections are
 *    simply long, that is a thundering herd; so it is done for as many as came through last time
 *    (relock_caution of the class): twice as many after a success, half after a failure.
 *
 * Progress and fairness: a waiter can be passed while it sleeps, for as long as open_us for
 * each that was before it. Memory: a request line of each waiter. A waiter spins on the word
 * first, then on its own line. A preempted owner delays everybody; they sleep meanwhile.
 */
#include "../base/class.h"
#include "../base/options.h"
#include "algorithm.h"
#include "batch.h"
#include "queue.h"
#include "section.h"

/* Sleepers that are released or served together: bounded by what the head can remember to wake. */
enum { MOST = 64 };

/* relock_caution of a class: how often MOST is halved. */
enum { MOST_CAUTION = 6 };

static void change(uint8_t *object, uint8_t value) {
  if (relock_load_relaxed(object) != value)
    relock_store_relaxed(object, value);
}

/* Takes the word within the wait's spins, as long as arrivals may; at growing distances, see
 * relock_word_spin(). */
static bool barge(relock_mutex_t *mutex, struct relock_wait *wait) {
  const uint32_t longest = wait->spins / 6 + 1;
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

/* The head of the queue takes the word. True: it was kept waiting for long. */
static bool take_word(relock_mutex_t *mutex, struct relock_wait *wait) {
  uint32_t *word = &mutex->relock_private.word;
  uint8_t *open = &mutex->relock_private.open;
  wait->spins = relock_wait_spins();
  if (relock_word_spin(word, wait))
    return false;
  uint64_t start = relock_os->now_ns();
  do {
    change(open, relock_os->now_ns() - start < 1000ull * relock_tuning.open_us);
    if (relock_word_park(word, wait, CLOCK_MONOTONIC, NULL, NULL))
      break;
    wait->spins = relock_wait_spins();
  } while (!relock_word_spin_woken(word, wait));
  return relock_os->now_ns() - start > 1000ull * relock_tuning.preempted_us;
}

/* Lets sleepers at the front of the queue try again on their own. Returns who is first then. */
static struct relock_request *release_sleepers(relock_mutex_t *mutex, struct relock_request *first,
                                               struct relock_wakes *wakes) {
  unsigned credit = MOST >> relock_load_relaxed(&relock_class_of(mutex)->relock_caution);
  while (first && wakes->count < credit && relock_load_relaxed(&first->state) == RELOCK_PARKED) {
    struct relock_request *next = relock_queue_leave(mutex, first);
    relock_wakes_add(wakes, relock_queue_grant(first, RELOCK_RETRY));
    first = next;
  }
  return first;
}

/* One that was released from the queue has tried again. */
static void learn(relock_mutex_t *mutex, bool came_through) {
  uint32_t *caution = &relock_class_of(mutex)->relock_caution;
  uint32_t now = relock_load_relaxed(caution);
  if (came_through && now > 0)
    relock_store_relaxed(caution, now - 1);
  else if (!came_through && now < MOST_CAUTION)
    relock_store_relaxed(caution, now + 1);
}

/* The new head, if any, goes on; an awake one has the next turn, a sleeping one may be passed. */
static void appoint(relock_mutex_t *mutex, struct relock_request *next,
                    struct relock_wakes *wakes) {
  if (!next)
    return;
  change(&mutex->relock_private.open, relock_load_relaxed(&next->state) == RELOCK_PARKED);
  relock_wakes_add(wakes, relock_queue_grant(next, RELOCK_HEAD));
}

/* How a thread got its section done, or may do it. */
enum turn { PASSED, HEAD, HEAD_AFTER_LONG, SERVED };

static enum turn await_turn(relock_mutex_t *mutex, struct relock_thread *self,
                            struct relock_request *own, const struct relock_call *call,
                            struct relock_wait *wait) {
  for (bool again = false;; again = true) {
    bool passed = barge(mutex, wait);
    if (again)
      learn(mutex, passed);
    if (passed)
      return PASSED;
    relock_request_fill(own, self, call);
    wait->spins = relock_wait_spins() / 2;
    switch (relock_queue_enter(mutex, own, wait)) {
    case RELOCK_HEAD:
      return take_word(mutex, wait) ? HEAD_AFTER_LONG : HEAD;
    case RELOCK_DONE:
      return SERVED;
    }
    wait->spins = relock_wait_spins();
  }
}

static void adaptive_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *own = relock_request_take(self);
  enum turn turn = await_turn(mutex, self, own, NULL, &wait);
  if (turn != PASSED) {
    struct relock_wakes wakes;
    wakes.count = 0;
    struct relock_request *next = relock_queue_leave(mutex, own);
    if (turn == HEAD_AFTER_LONG)
      next = release_sleepers(mutex, next, &wakes);
    appoint(mutex, next, &wakes);
    relock_wakes_send(&wakes);
  }
  relock_request_give(self);
  relock_wait_end(&wait);
}

/* Runs the head's own section and those behind it. The caller owns the word and is the head;
 * afterwards it is neither. */
static int adaptive_combine(relock_mutex_t *mutex, struct relock_thread *self,
                            struct relock_request *own, const struct relock_call *call,
                            bool after_long) {
  struct relock_batch batch;
  int result = relock_batch_begin(&batch, mutex, self, call);
  batch.most = batch.most < MOST ? batch.most : MOST - 1;
  struct relock_request *next = relock_queue_leave(mutex, own);
  while (next && relock_batch_takes(&batch, next)) {
    relock_batch_run(&batch, next);
    next = relock_queue_leave(mutex, next);
  }
  if (after_long)
    next = release_sleepers(mutex, next, &batch.wakes);
  relock_batch_release(&batch, mutex);
  appoint(mutex, next, &batch.wakes);
  relock_batch_end(&batch);
  return result;
}

static int adaptive_execute(relock_mutex_t *mutex, struct relock_thread *self,
                            const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *own = relock_request_take(self);
  enum turn turn = await_turn(mutex, self, own, call, &wait);
  relock_wait_end(&wait);
  int result;
  if (turn == SERVED)
    result = relock_request_result(own, call);
  else if (turn == PASSED)
    result = relock_run_and_release(mutex, self, call->section, call->context);
  else
    result = adaptive_combine(mutex, self, own, call, turn == HEAD_AFTER_LONG);
  relock_request_give(self);
  return result;
}

const struct relock_algorithm relock_adaptive = {
    .name = "adaptive", .lock = adaptive_lock, .execute = adaptive_execute, .can_move = true};
