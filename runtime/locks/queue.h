/* SPDX-License-Identifier: MIT
 *
 * A queue of waiters in front of the exclusion word, shared by the queueing algorithms. It is the
 * queue of the MCS lock (Mellor-Crummey and Scott, 1991) in the place that Linux's qspinlock
 * gives it: only the head of the queue waits for the word, and it leaves the queue when it has
 * the word. A node is therefore needed while waiting only, and is a request line of the waiter's
 * record: none per held lock, nesting in any order.
 *
 * States of a waiter (`state` is its futex):
 *
 *             sleeps             granted (by the predecessor, or by a combiner)
 *   WAITING ---------> PARKED ------+--> HEAD   it may take the word
 *      `----------------------------'|-> DONE   its section has been run
 *                                    `-> RETRY  it is off the queue and tries again (mcs_tp)
 *
 * WAITING is that or WAITING_FAST. It is the granter who is in a hurry: it runs sections, or has
 * just released the word, and an exchange makes it wait for the waiter's line, which that one looks
 * at all the time. A waiter that is WAITING_FAST is granted by one instruction without a LOCK
 * prefix, as HELD_FAST is released in word.h: the store is under way while the granter goes on.
 * Whoever parks makes up for it by a barrier after it has set PARKED. So only threads that will
 * hardly park are: where there is a processor for each, and not too many barriers lately.
 *
 * Invariants
 *  - Nobody but the granter takes the state from WAITING_FAST to anything but PARKED.
 *  - The waiter whose predecessor was null, or that was granted HEAD, is the head; there is one
 *    at most, until it leaves.
 *  - Only an owner of the word takes nodes off the queue.
 *  - A node may be reused by its owner as soon as it reads HEAD and has left, or reads DONE: a
 *    granter touches nothing of it after the grant but its address, for a wake-up.
 *
 * Order: first come, first served, with three exceptions. Try and timed locks take a free word
 * whoever waits. So do, for a bounded time, holders on adaptive and fair. And while the head
 * sleeps, the word is open to arrivals, because handing it to a thread that must first be woken and
 * scheduled costs a context switch per section (a convoy). The head closes it again when it has
 * slept for open_us (tunables.def) in all; from then on nobody passes. Linux's paravirtual
 * qspinlock steals under the same condition.
 */
#ifndef RELOCK_LOCKS_QUEUE_H
#define RELOCK_LOCKS_QUEUE_H

#include "../base/request.h"
#include "../base/thread.h"
#include "../base/wait.h"
#include "../base/word.h"

#include <relock/relock.h>

/* What a mutex's `open` says about the word while there is a queue.
 *
 *              the head was asleep when it      it has looked in vain for as long
 *              became that, or goes to sleep    as a wait spins, or slept for open_us
 *   IN_TURN <----> OPEN ---------------------> CLOSED ----> IN_TURN when the head has the word
 *      `-----------------------------------------^
 *
 * OPEN: arrivals may take it, once. IN_TURN: they queue, but for holders on adaptive and fair,
 * which compete a while first. CLOSED: nobody passes the head. */
enum { RELOCK_IN_TURN, RELOCK_OPEN, RELOCK_CLOSED };

enum { RELOCK_WAITING, RELOCK_WAITING_FAST, RELOCK_PARKED, RELOCK_HEAD, RELOCK_DONE, RELOCK_RETRY };

/* As what a waiter that parks by relock_queue_await() begins. */
static inline uint32_t relock_queue_waiting(void) {
  return relock_wait_has_room() && relock_load_relaxed(&relock_word_taken) == RELOCK_WORD_HELD_FAST
             ? RELOCK_WAITING_FAST
             : RELOCK_WAITING;
}

/* Takes the word if it is free and nobody waits that should come first. */
static inline bool relock_queue_may_pass(relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.tail) == 0 ||
         relock_load_relaxed(&mutex->relock_private.open) == RELOCK_OPEN;
}
static inline bool relock_queue_try(relock_mutex_t *mutex) {
  return relock_queue_may_pass(mutex) && relock_word_try(&mutex->relock_private.word);
}

/* While the queue is open, an arrival waits a bounded time for the word beside it. True: it has
 * the word. */
bool relock_queue_pass(relock_mutex_t *mutex, struct relock_wait *wait);

/* Whoever queues, an arrival looks for the word within the wait's spins, at growing distances as
 * relock_word_spin() does, unless the head has closed it. True: it has the word. `open`: of the
 * mutex, or of what has its queue. */
bool relock_queue_compete(uint32_t *word, const uint8_t *open, struct relock_wait *wait);

/* Enters the queue; the state is the caller's to set before. True: as its head. */
bool relock_queue_join(relock_mutex_t *mutex, struct relock_request *request);

/* Enters the queue and waits there: HEAD, DONE or RETRY. */
uint32_t relock_queue_enter(relock_mutex_t *mutex, struct relock_request *request,
                            struct relock_wait *wait);

/* Waits for a grant on the request's own line: HEAD or DONE. */
uint32_t relock_queue_await(struct relock_request *request, struct relock_wait *wait);

/* The head takes the word. It is still in the queue. */
void relock_queue_take(uint32_t *word, uint8_t *open, struct relock_wait *wait);
static inline void relock_queue_take_word(relock_mutex_t *mutex, struct relock_wait *wait) {
  relock_queue_take(&mutex->relock_private.word, &mutex->relock_private.open, wait);
}

/* The owner of the word takes the first node off the queue and returns the next, now the first,
 * or null. */
struct relock_request *relock_queue_leave(relock_mutex_t *mutex, struct relock_request *first);

/* Lets a waiter go on, as HEAD or DONE; its node is gone with that. The futex to wake, or null. */
const uint32_t *relock_queue_grant(struct relock_request *waiter, uint32_t state);

/* Grants HEAD, and opens the queue if the new head has to wake up first. */
const uint32_t *relock_queue_grant_head(uint8_t *open, struct relock_request *waiter);
static inline const uint32_t *relock_queue_make_head(relock_mutex_t *mutex,
                                                     struct relock_request *waiter) {
  return relock_queue_grant_head(&mutex->relock_private.open, waiter);
}

/* A holder's way through the queue: returns as the owner of the word. */
void relock_queue_lock(relock_mutex_t *mutex, struct relock_thread *self);

#endif
