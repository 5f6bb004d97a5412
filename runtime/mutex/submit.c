/* SPDX-License-Identifier: MIT */
#include "submit.h"

#include "../base/class.h"
#include "../base/generation.h"
#include "../locks/algorithm.h"
#include "../locks/section.h"
#include "../server/client.h"
#include "../server/server.h"
#include "../statistics/times.h"
#include "choice.h"

#include <errno.h>
#include <string.h>

uint32_t relock_submits;

int relock_run_submitted(void *context) {
  struct relock_submission *submission = *(struct relock_submission **)context;
  unsigned char copy[RELOCK_COPY_MAX]; /* the section may submit others, where its client runs it */
  memcpy(copy, submission->context, sizeof copy);
  const uint64_t slept = relock_times_slept();
  uintptr_t *owner = &submission->mutex->relock_private.owner;
  const struct relock_arrival arrival =
      relock_times_arrive(relock_own_record, relock_load_relaxed(owner));
  relock_store_relaxed(owner, arrival.mark);
  submission->distance = arrival.distance;
  submission->start = relock_ticks();
  int result = submission->section(copy);
  submission->end = relock_ticks();
  submission->slept = relock_times_slept() - slept;
  return result;
}

static bool post(relock_mutex_t *mutex, struct relock_thread *self, uint32_t index,
                 const struct relock_call *call, const void *caller) {
  struct relock_submission *timed = relock_is_timed(mutex) ? relock_times_submission(self) : NULL;
  const struct relock_call wrapped = {relock_run_submitted, &timed, sizeof timed, false};
  if (timed) {
    *timed = (struct relock_submission){
        .mutex = mutex,
        .section = call->section,
        .acquisition = {.section = (uintptr_t)call->section, .caller = (uintptr_t)caller},
    };
    memcpy(timed->context, call->context, call->copied);
    if (self->traces)
      relock_times_trace(self, relock_resolved_class_of(mutex), &timed->acquisition);
  }
  if (!relock_client_post(mutex, self, timed ? &wrapped : call))
    return false;
  self->rcl_submitted_index = index;
  self->rcl_submitted_timed = timed;
  relock_stats_count(self, index, RELOCK_COUNT_EXECUTED, 1);
  return true;
}

int relock_submit(relock_mutex_t *mutex, relock_section_t section, const void *context,
                  size_t size) {
  if (size > RELOCK_COPY_MAX)
    return EINVAL;
  relock_settle();
  struct relock_thread *self = relock_thread_self();
  const relock_class_t *lock_class = relock_resolved_class_of(mutex);
  unsigned char copy[RELOCK_COPY_MAX];
  struct relock_call call = {section, copy, size ? (uint32_t)size : 1, false};
  if (size)
    memcpy(copy, context, size);
  uint8_t kind = relock_load_relaxed(&mutex->relock_private.kind);
  /* Acquire: pairs with the release in forget_old_waiters(), mutex.c. */
  bool plain =
      (kind & RELOCK_KIND_TYPE) == RELOCK_TYPE_NORMAL && kind & RELOCK_KIND_SEEN &&
      !(kind & RELOCK_KIND_WATCHED) &&
      relock_load_acquire(&mutex->relock_private.generation) == (uint16_t)relock_generation();
  if (plain && relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl && self) {
    if (!relock_load_relaxed(&relock_submits))
      relock_store_relaxed(&relock_submits, 1);
    if (post(mutex, self, lock_class->relock_index, &call, __builtin_return_address(0)))
      return 0;
  }
  int saved = errno; /* the section's is nobody's */
  relock_execute_submitted(mutex, &call, __builtin_return_address(0));
  errno = saved;
  return 0;
}

/* How long the thread had to wait, without what of the section ran meanwhile. */
static uint64_t waited(const struct relock_submission *submission, uint64_t asked, uint64_t now) {
  const uint64_t from = submission->start > asked ? submission->start : asked;
  const uint64_t ran = submission->end > from ? submission->end - from : 0;
  return now > asked + ran ? now - asked - ran : 0; /* clocks of two processors may differ */
}

/* True: it had to wait. */
static bool settle(struct relock_thread *self, uint32_t index) {
  const uint64_t before = relock_stats_read(self, index, RELOCK_COUNT_CONTENDED);
  bool parked;
  if (relock_client_settle(self, &parked)) {
    relock_stats_count(self, index, RELOCK_COUNT_CONTENDED, 1);
    if (parked)
      relock_stats_count(self, index, RELOCK_COUNT_PARKED, 1);
  }
  return relock_stats_read(self, index, RELOCK_COUNT_CONTENDED) != before;
}

static void settle_timed(struct relock_thread *self, uint32_t index,
                         struct relock_submission *submission) {
  const bool waits = !relock_submitted_is_done();
  const uint64_t asked = relock_ticks();
  relock_times_execute(self, submission->mutex, index, waits, asked);
  if (settle(self, index))
    submission->acquisition.asked = asked;
  const uint64_t now = relock_ticks(), ran = submission->end - submission->start;
  relock_times_executed(self, submission->mutex, index, &submission->acquisition,
                        waited(submission, asked, now), ran - submission->slept,
                        submission->distance, now);
}

void relock_submitted_settle(struct relock_thread *self) {
  const uint32_t index = self->rcl_submitted_index;
  if (self->rcl_submitted_timed)
    settle_timed(self, index, relock_times_submission(self));
  else
    settle(self, index);
}

int relock_submitted_is_done(void) {
  const struct relock_thread *self = relock_own_record;
  /* Acquire: pairs with the release in run(), servicing.c. */
  return !self || !self->rcl_submitted ||
         relock_load_acquire(&self->rcl_submitted->state) == RELOCK_SLOT_DONE;
}

void relock_submitted_wait(void) { relock_settle(); }
