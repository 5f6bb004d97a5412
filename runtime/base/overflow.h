/* SPDX-License-Identifier: MIT
 *
 * A stack overflow inside a section that another thread runs would look like one of that thread.
 * This names the section before the process dies of it as it would have anyway.
 *
 * It costs a thread that runs sections for others one sigaltstack(2) in its life, and the process
 * one handler of SIGSEGV, installed when a section is first run for another thread and only if the
 * program had none then. A handler or an alternate stack of the program's own takes precedence,
 * before or after.
 */
#ifndef RELOCK_BASE_OVERFLOW_H
#define RELOCK_BASE_OVERFLOW_H

#include "atomic.h"
#include "thread.h"

#include <relock/relock.h>
#include <stdint.h>

/* Has overflows of the thread's stack reported. Once in its life. */
void relock_overflow_watch(struct relock_thread *self);

/* Bracket the section of a filled line that the calling thread, whose record may be null, runs.
 * `run` lies in the caller's frame. */
static inline void relock_overflow_begin(struct relock_thread *self, struct relock_run *run,
                                         const struct relock_request *request) {
  if (RELOCK_UNLIKELY(!self))
    return;
  if (RELOCK_UNLIKELY(!self->watched))
    relock_overflow_watch(self);
  run->request = request;
  run->outer = self->running;
  /* Whole for whoever finds it there, a handler or a debugger that stops this thread. */
  relock_keep_order();
  self->running = run;
}

static inline void relock_overflow_end(struct relock_thread *self, const struct relock_run *run) {
  if (RELOCK_LIKELY(self != NULL))
    self->running = run->outer;
}

#endif
