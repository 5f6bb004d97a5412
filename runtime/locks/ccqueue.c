/* SPDX-License-Identifier: MIT
 *
 * The queue of CC-Synch and the combiner's work. See ccqueue.h.
 */
#include "ccqueue.h"

#include "../base/class.h"
#include "queue.h"
#include "section.h"

uint32_t relock_cc_enter(struct relock_cc *cc, uintptr_t *tail, struct relock_thread *self,
                         const struct relock_call *call, struct relock_wait *wait) {
  cc->own = NULL;
  cc->next = relock_node_take(self);
  if (!cc->next)
    return RELOCK_WAITING;
  relock_store_relaxed(&cc->next->next, NULL);
  relock_store_relaxed(&cc->next->state, RELOCK_WAITING);
  /* Release: the line is empty for whoever swaps in behind it. Acquire: the one that we get is.
   * Both sides are this line. */
  cc->own = (struct relock_request *)relock_exchange_acq_rel(tail, (uintptr_t)cc->next);
  if (!cc->own)
    return RELOCK_HEAD;
  relock_request_fill(cc->own, self, call);
  /* Release: pairs with the acquire in relock_cc_combine(), for the request and the next line. */
  relock_store_release(&cc->own->next, cc->next);
  uint32_t state = relock_queue_await(cc->own, wait);
  return state;
}

int relock_cc_combine(struct relock_cc *cc, struct relock_cc_batch *batch, relock_mutex_t *mutex,
                      struct relock_thread *self, const struct relock_call *call) {
  batch->served = 0;
  batch->last = NULL;
  batch->wakes.count = 0;
  relock_store_relaxed(&mutex->relock_private.executing, 1);
  int result = call->section(call->context);
  struct relock_request *line = cc->next;
  while (batch->served < RELOCK_BATCH) {
    /* Acquire: pairs with the release in relock_cc_enter(). */
    struct relock_request *next = relock_load_acquire(&line->next);
    if (!next || !line->section || !relock_thread_has_room(self, line))
      break;
    if (batch->last)
      relock_wakes_add(&batch->wakes, relock_queue_grant(batch->last, RELOCK_DONE));
    relock_request_run(line);
    batch->served++;
    batch->last = line;
    line = next;
  }
  cc->next = line;
  relock_store_relaxed(&mutex->relock_private.executing, 0);
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

void relock_cc_finish(struct relock_cc_batch *batch, const relock_class_t *lock_class,
                      struct relock_thread *self) {
  if (batch->last)
    relock_wakes_add(&batch->wakes, relock_queue_grant(batch->last, RELOCK_DONE));
  relock_wakes_send(&batch->wakes);
  if (batch->served)
    relock_count_batch(self, lock_class, batch->served);
}
