/* SPDX-License-Identifier: MIT
 *
 * mcs_tp: a queue lock that skips preempted waiters, by time-published spinning. Source: He,
 * Scherer and Scott, "Preemption adaptivity in time-published queue-based spin locks" (2005);
 * Lozi's thesis (2014), algorithm 4, whose releasing side is not printed.
 *
 * Protocol: the queue of queue.h; a waiter that spins in it publishes the time at each look. The
 * head, when it has the word, makes the first waiter head whose time is fresh. Waiters in front of
 * it, who have stopped looking without going to sleep and so were preempted, are failed: they are
 * taken off the queue, and enter it again when they run.
 *
 *             sleeps             granted
 *   WAITING ---------> PARKED ---------> HEAD   it may take the word
 *      | `-----------------------------> HEAD
 *      `--stale--> RETRY --enters again--> PARKED (and sleeps when its time to spin is over)
 *
 * Invariants, besides those of queue.h
 *  - A node is failed (RETRY) when it is off the queue and its link was read; only then may its
 *    owner enter it again. (The defect of the first published version was to enter nodes that were
 *    still in the queue: two threads deadlock.)
 *  - Whoever grants or fails does it by an exchange and learns from it whether the waiter sleeps,
 *    and a waiter goes to sleep by a CAS, so neither overwrites the other's news.
 *  - PARKED waiters are not stale. A waiter that was failed enters as PARKED, whether it sleeps
 *    or not yet, so nobody is failed twice in one wait.
 *
 * Progress and fairness: first come, first served, but who is preempted while spinning may lose its
 * place, once; a sleeper keeps its place. So each waiter waits for those before it, and after
 * having been failed for those before it then. Try and timed locks, and arrivals while a head
 * sleeps, pass as with mcs. Memory: none beyond the mutex, a request line of the thread while it
 * waits. A preempted or blocked holder delays everybody; a preempted waiter nobody, unless it is
 * the head or becomes it within STALE_NS. A thread that ends while it holds the mutex leaves it
 * held, as with a POSIX mutex; no waiter can end.
 *
 * Departures from the source: a waiter whose patience is over sleeps in the queue, and is granted
 * the word there, where the source has it leave the queue and yield if the holder's time in the
 * section is too long; so nobody has to publish when a section began, which arrivals that take a
 * free word would have to do as well. And the scan for a fresh waiter needs no bound on skipped
 * nodes, which the source has against waiters that enter again while it goes on, because each
 * is skipped once.
 */
#include "algorithm.h"
#include "queue.h"

/* A waiter that has not looked for so long does not run. The source's 10 us; a look takes a tenth
 * of a microsecond, an interrupt a few. */
enum { STALE_NS = 10000 };

/* The published time lies where a section would have its context. */
static void publish(struct relock_request *request) {
  relock_store_relaxed(&request->context.pointer, (void *)(uintptr_t)relock_os->now_ns());
}

static bool is_stale(const struct relock_request *waiter) {
  if (relock_load_relaxed(&waiter->state) != RELOCK_WAITING)
    return false;
  uint64_t seen = (uintptr_t)relock_load_relaxed(&waiter->context.pointer);
  return (int64_t)(relock_os->now_ns() - seen) > STALE_NS;
}
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "a time fits a pointer");

static uint32_t await_grant(struct relock_request *request, struct relock_wait *wait) {
  for (;;) {
    /* Acquire: pairs with the release in relock_queue_grant(). */
    uint32_t state = relock_load_acquire(&request->state);
    if (state >= RELOCK_HEAD)
      return state;
    if (relock_wait_again(wait)) {
      publish(request);
      continue;
    }
    relock_cas_relaxed(&request->state, RELOCK_WAITING, RELOCK_PARKED);
    relock_wait_park(wait, &request->state, RELOCK_PARKED, CLOCK_MONOTONIC, NULL);
  }
}

/* HEAD or RETRY. */
static uint32_t mcs_tp_enter(relock_mutex_t *mutex, struct relock_request *request,
                             struct relock_wait *wait, bool again) {
  publish(request);
  relock_store_relaxed(&request->state, again ? RELOCK_PARKED : RELOCK_WAITING);
  return relock_queue_join(mutex, request) ? RELOCK_HEAD : await_grant(request, wait);
}

static void wake(const uint32_t *futex) {
  if (futex)
    relock_os->futex_wake(futex, 1);
}

/* The head, which has the word, leaves, and with it those that are stale behind it. */
static void hand_over(relock_mutex_t *mutex, struct relock_request *head) {
  struct relock_request *gone = head, *next;
  do {
    next = relock_queue_leave(mutex, gone);
    if (gone != head)
      wake(relock_queue_grant(gone, RELOCK_RETRY));
    gone = next;
  } while (next && is_stale(next));
  if (next)
    wake(relock_queue_make_head(mutex, next));
}

static void mcs_tp_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct relock_request *request = relock_request_take(self);
  relock_request_fill(request, self, NULL);
  bool passed = relock_queue_pass(mutex, &wait);
  for (bool again = false; !passed && mcs_tp_enter(mutex, request, &wait, again) == RELOCK_RETRY;
       again = true)
    passed = relock_queue_pass(mutex, &wait);
  if (!passed) {
    relock_queue_take_word(mutex, &wait);
    hand_over(mutex, request);
  }
  relock_request_give(self);
  relock_wait_end(&wait);
}

const struct relock_algorithm relock_mcs_tp = {.name = "mcs_tp", .lock = mcs_tp_lock};
