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
  struct relock_timed_submission *submission = *(struct relock_timed_submission **)context;
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

/* What stands in `next` of the last submission of a chain that has been run. */
static void *const CLOSED = (void *)1;

/* The next one of the chain, or null: there is none, and none is appended any more. */
static relock_submission_t *next_of(relock_submission_t *submission) {
  void **next = &submission->relock_private.next;
  /* Acquire: pairs with the release in append(). */
  void *found = relock_load_acquire(next);
  if (!found && !relock_cas_relaxed(next, NULL, CLOSED))
    found = relock_load_acquire(next);
  return found;
}

int relock_run_chain(void *context) {
  struct relock_chain *chain = context;
  relock_submission_t *submission = chain->first;
  submission->relock_private.result =
      submission->relock_private.section(submission->relock_private.context);
  relock_submission_t *next = next_of(submission);
  if (next)
    *chain = (struct relock_chain){next->relock_private.section, next};
  /* Release: pairs with the acquire in relock_submission_is_done(). */
  relock_store_release(&submission->relock_private.done, 1);
  return next != NULL;
}

/* Whether a section for the mutex may go to a server, whatever its state. */
static bool may_post(const relock_mutex_t *mutex, const relock_class_t *lock_class) {
  uint8_t kind = relock_load_relaxed(&mutex->relock_private.kind);
  /* Acquire: pairs with the release in forget_old_waiters(), mutex.c. */
  return (kind & RELOCK_KIND_TYPE) == RELOCK_TYPE_NORMAL && kind & RELOCK_KIND_SEEN &&
         !(kind & RELOCK_KIND_WATCHED) &&
         relock_load_acquire(&mutex->relock_private.generation) == (uint16_t)relock_generation() &&
         relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl;
}

static bool post(struct relock_thread *self, relock_mutex_t *mutex,
                 const relock_class_t *lock_class, const struct relock_call *call,
                 struct relock_submitted submitted) {
  struct relock_server *server = relock_server_of(mutex, lock_class);
  if (!relock_load_relaxed(&relock_submits))
    relock_store_relaxed(&relock_submits, 1);
  if (!relock_client_post(server, mutex, self, call, submitted.last != NULL))
    return false;
  submitted.mutex = mutex;
  submitted.index = lock_class->relock_index;
  self->submitted[server->number] = submitted;
  relock_stats_count(self, submitted.index, RELOCK_COUNT_EXECUTED, 1);
  return true;
}

static bool post_single(struct relock_thread *self, relock_mutex_t *mutex,
                        const relock_class_t *lock_class, const struct relock_call *call,
                        const void *caller) {
  struct relock_timed_submission *timed =
      relock_is_timed(mutex) ? relock_times_submission(self) : NULL;
  const struct relock_call wrapped = {relock_run_submitted, &timed, sizeof timed, false};
  if (timed) {
    *timed = (struct relock_timed_submission){
        .mutex = mutex,
        .section = call->section,
        .acquisition = {.section = (uintptr_t)call->section, .caller = (uintptr_t)caller},
    };
    memcpy(timed->context, call->context, call->copied);
    if (self->traces)
      relock_times_trace(self, lock_class, &timed->acquisition);
  }
  return post(self, mutex, lock_class, timed ? &wrapped : call,
              (struct relock_submitted){.timed = timed != NULL});
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
  if (self && may_post(mutex, lock_class) &&
      post_single(self, mutex, lock_class, &call, __builtin_return_address(0)))
    return 0;
  int saved = errno; /* the section's is nobody's */
  relock_execute_submitted(mutex, &call, __builtin_return_address(0));
  errno = saved;
  return 0;
}

/* How long the thread had to wait, without what of the section ran meanwhile. */
static uint64_t waited(const struct relock_timed_submission *submission, uint64_t asked,
                       uint64_t now) {
  const uint64_t from = submission->start > asked ? submission->start : asked;
  const uint64_t ran = submission->end > from ? submission->end - from : 0;
  return now > asked + ran ? now - asked - ran : 0; /* clocks of two processors may differ */
}

/* True: it had to wait. */
static bool settle(struct relock_thread *self, struct relock_server *server, uint32_t index) {
  const uint64_t before = relock_stats_read(self, index, RELOCK_COUNT_CONTENDED);
  bool parked;
  if (relock_client_settle(server, self, &parked)) {
    relock_stats_count(self, index, RELOCK_COUNT_CONTENDED, 1);
    if (parked)
      relock_stats_count(self, index, RELOCK_COUNT_PARKED, 1);
  }
  return relock_stats_read(self, index, RELOCK_COUNT_CONTENDED) != before;
}

static void settle_timed(struct relock_thread *self, struct relock_server *server, uint32_t index,
                         struct relock_timed_submission *submission) {
  const bool waits = !relock_client_is_served(server, self);
  const uint64_t asked = relock_ticks();
  relock_times_execute(self, submission->mutex, index, waits, asked);
  if (settle(self, server, index))
    submission->acquisition.asked = asked;
  const uint64_t now = relock_ticks(), ran = submission->end - submission->start;
  relock_times_executed(self, submission->mutex, index, &submission->acquisition,
                        waited(submission, asked, now), ran - submission->slept,
                        submission->distance, now);
}

/* What runs in here, where the server would not, must wait for none of the others: it may have a
 * mutex that they need. */
static void settle_one(struct relock_thread *self, uint32_t number) {
  const bool outer = self->rcl_settles;
  self->rcl_settles = true;
  const struct relock_submitted submitted = self->submitted[number];
  struct relock_server *server = &relock_servers[number];
  if (submitted.timed)
    settle_timed(self, server, submitted.index, relock_times_submission(self));
  else
    settle(self, server, submitted.index);
  self->rcl_settles = outer;
}

void relock_submitted_settle(struct relock_thread *self) {
  while (self->rcl_submitted)
    settle_one(self, (uint32_t)__builtin_ctz(self->rcl_submitted));
}

int relock_submitted_is_done(void) {
  const struct relock_thread *self = relock_own_record;
  for (uint32_t left = self ? self->rcl_submitted : 0; left; left &= left - 1)
    if (!relock_client_is_served(&relock_servers[__builtin_ctz(left)], self))
      return 0;
  return 1;
}

void relock_submitted_wait(void) { relock_settle(); }

/* --- submissions ----------------------------------------------------------------------------- */

static bool append(struct relock_submitted *submitted, relock_submission_t *submission) {
  /* Release: pairs with the acquire in next_of(). */
  if (!relock_cas_release(&submitted->last->relock_private.next, NULL, submission))
    return false;
  submitted->last = submission;
  return true;
}

/* Waits for what must be run before a section under the mutex that goes to the server: all for the
 * same mutex, should it have had another server, and a section without a submission. */
static void settle_for(struct relock_thread *self, const relock_mutex_t *mutex) {
  for (uint32_t left = self->rcl_submitted; left; left &= left - 1) {
    const uint32_t number = (uint32_t)__builtin_ctz(left);
    const struct relock_submitted *submitted = &self->submitted[number];
    if (!submitted->last || submitted->mutex == mutex)
      settle_one(self, number);
  }
}

static bool start(struct relock_thread *self, relock_mutex_t *mutex,
                  const relock_class_t *lock_class, relock_submission_t *submission) {
  const uint32_t number = relock_server_number(relock_server_of(mutex, lock_class));
  struct relock_submitted *submitted = &self->submitted[number];
  submission->relock_private.server = number + 1;
  if (relock_has_submitted(self, number) && submitted->last && submitted->mutex == mutex &&
      append(submitted, submission)) {
    relock_stats_count(self, submitted->index, RELOCK_COUNT_EXECUTED, 1);
    return true;
  }
  settle_for(self, mutex);
  if (relock_has_submitted(self, number))
    settle_one(self, number);
  struct relock_chain chain = {submission->relock_private.section, submission};
  const struct relock_call call = {relock_run_chain, &chain, sizeof chain, false};
  return post(self, mutex, lock_class, &call, (struct relock_submitted){.last = submission});
}

void relock_submission_start(relock_submission_t *submission, relock_mutex_t *mutex,
                             relock_section_t section, void *context) {
  *submission = (relock_submission_t){{.section = section, .context = context}};
  struct relock_thread *self = relock_thread_self();
  const relock_class_t *lock_class = relock_resolved_class_of(mutex);
  /* Times are taken of a call that waits: those of a mutex whose times are taken are run at once.
   */
  if (self && !self->rcl_settles && may_post(mutex, lock_class) && !relock_is_timed(mutex) &&
      start(self, mutex, lock_class, submission))
    return;
  submission->relock_private.server = 0;
  const struct relock_call call = {section, context, 0, false};
  submission->relock_private.result =
      relock_execute_submitted(mutex, &call, __builtin_return_address(0));
  submission->relock_private.done = 1;
}

int relock_submission_is_done(const relock_submission_t *submission) {
  /* Acquire: pairs with the release in relock_run_chain(). */
  return relock_load_acquire(&submission->relock_private.done) != 0;
}

int relock_submission_wait(relock_submission_t *submission) {
  const uint32_t server = submission->relock_private.server;
  struct relock_thread *self = relock_own_record;
  for (uint32_t n = relock_wait_spins(); n > 0 && !relock_submission_is_done(submission);)
    n -= relock_pauses(n);
  if (server && self && relock_has_submitted(self, server - 1) &&
      (self->submitted[server - 1].last == submission || !relock_submission_is_done(submission)))
    settle_one(self, server - 1);
  return submission->relock_private.result;
}
