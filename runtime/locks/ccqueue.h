/* SPDX-License-Identifier: MIT
 *
 * The queue of CC-Synch (Fatourou and Kallimanis, "Revisiting the combining synchronization
 * technique", 2012), shared by ccsynch and hsynch. The tail points to an empty line. A thread
 * swaps another empty line in as the new tail, writes its request into the line that it got, and
 * links that to the new one. So a line that has a link has a complete request, one swap is all
 * that entering costs, and nobody has to wait for a link: the line at which a combiner stops may
 * be told HEAD before its request is written.
 *
 * Where there is no queue there is no line: the tail is 0, and the thread that swaps the first one
 * in is the head at once, without a request. The word's owner that finds the last line empty swings
 * the tail back to 0 and keeps the line. Lines belong to no thread (relock_node_take()).
 *
 * States of a line, in `state`, its waiter's futex: those of queue.h, of the thread that has
 * written or will write its request into it.
 *
 * Invariants
 *  - Only the head, owning the word, takes lines off the queue; there is one head at most.
 *  - Of a line that was granted, the granter touches nothing but the address. It belongs to the
 *    thread whose request was in it.
 *  - That of batch.h. A line granted HEAD is followed by its client, too, which still uses the
 *    mutex.
 */
#ifndef RELOCK_LOCKS_CCQUEUE_H
#define RELOCK_LOCKS_CCQUEUE_H

#include "../base/request.h"
#include "../base/thread.h"
#include "../base/wait.h"
#include "batch.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stdint.h>

struct relock_cc {
  struct relock_request *own;  /* the caller's request, or null: it found no queue */
  struct relock_request *next; /* the line that it swapped in, its successor's */
};

/* Enters the queue and waits there; call: null for a holder. HEAD; DONE, and then the result is
 * in cc->own; or WAITING if there is no memory. */
uint32_t relock_cc_enter(struct relock_cc *cc, uintptr_t *tail, struct relock_thread *self,
                         const struct relock_call *call, struct relock_wait *wait);

/* The head, owning the word, runs its own section and those behind it; cc->next is then the line
 * where it stopped. The batch is the caller's to end, after it has left. */
int relock_cc_combine(struct relock_cc *cc, struct relock_batch *batch, relock_mutex_t *mutex,
                      const uintptr_t *tail, struct relock_thread *self,
                      const struct relock_call *call);

/* The line behind, if the request is complete. One that has been begun is awaited for a moment:
 * else its client would combine, for the price of two more handovers. By the combiner. */
struct relock_request *relock_cc_next(struct relock_request *line, const uintptr_t *tail);

/* The head, owning the word, leaves. True: there is a successor, to be granted HEAD in cc->next. */
bool relock_cc_leave(struct relock_cc *cc, uintptr_t *tail, struct relock_thread *self);

/* Of ccsynch, in a mutex's own queue, for whoever has not found the word free: returns as the owner
 * of the word; the wait is the caller's to end. */
void relock_ccsynch_lock(relock_mutex_t *mutex, struct relock_thread *self,
                         struct relock_wait *wait);

/* And runs the section, or has it run, after the end of the wait. Returns its result. */
int relock_ccsynch_execute(relock_mutex_t *mutex, struct relock_thread *self,
                           const struct relock_call *call, struct relock_wait *wait);

#endif
