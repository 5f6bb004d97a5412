/* SPDX-License-Identifier: MIT
 *
 * The queue of CC-Synch and the combiner's work. See ccqueue.h.
 */
#include "ccqueue.h"

#include "queue.h"

/* How long a combiner waits for a request that has been begun: this part of a waiter's spin. */
enum { LINK_PART = 16 };

uint32_t relock_cc_enter(struct relock_cc *cc, uintptr_t *tail, struct relock_thread *self,
                         const struct relock_call *call, struct relock_wait *wait) {
  cc->own = NULL;
  cc->next = relock_node_take(self);
  if (!cc->next)
    return RELOCK_WAITING;
  relock_store_relaxed(&cc->next->next, NULL);
  relock_store_relaxed(&cc->next->state, relock_queue_waiting());
  /* Release: the line is empty for whoever swaps in behind it. Acquire: the one that we get is.
   * Both sides are this line. */
  cc->own = (struct relock_request *)relock_exchange_acq_rel(tail, (uintptr_t)cc->next);
  if (!cc->own)
    return RELOCK_HEAD;
  relock_request_fill(cc->own, self, call);
  /* Release: pairs with the acquire in relock_cc_next(), for the request and the next line. */
  relock_store_release(&cc->own->next, cc->next);
  return relock_queue_await(cc->own, wait);
}

struct relock_request *relock_cc_next(struct relock_request *line, const uintptr_t *tail) {
  for (uint32_t looks = relock_wait_spins() / LINK_PART;;) {
    /* Acquire: pairs with the release in relock_cc_enter(). */
    struct relock_request *next = relock_load_acquire(&line->next);
    if (next || looks == 0 || relock_load_relaxed(tail) == (uintptr_t)line)
      return next;
    looks -= relock_pauses(looks);
  }
}

int relock_cc_combine(struct relock_cc *cc, struct relock_batch *batch, relock_mutex_t *mutex,
                      const uintptr_t *tail, struct relock_thread *self,
                      const struct relock_call *call) {
  int result = relock_batch_begin(batch, mutex, self, call);
  struct relock_request *line = cc->next;
  for (;;) {
    struct relock_request *next = relock_cc_next(line, tail);
    if (!next || !relock_batch_takes(batch, line))
      break;
    __builtin_prefetch(next, 1); /* probably the next request; if not, it is looked at */
    relock_batch_run(batch, line);
    line = next;
  }
  cc->next = line;
  return result;
}

bool relock_cc_leave(struct relock_cc *cc, uintptr_t *tail, struct relock_thread *self) {
  /* Relaxed: whoever finds the tail 0 learns of the sections before by the word, and a line with
   * a successor stays. */
  if (relock_load_relaxed(&cc->next->next) || !relock_cas_relaxed(tail, (uintptr_t)cc->next, 0))
    return true;
  relock_node_give(self, cc->next);
  return false;
}
