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

#include "thread.h"

#include <relock/relock.h>
#include <stdint.h>

/* Has overflows of the thread's stack reported. Once in its life. */
void relock_overflow_watch(struct relock_thread *self);

/* Bracket the section of a filled line that the calling thread, whose record may be null, runs. The
 * second takes what the first returned: the line in which it is nested, or null. */
static inline const struct relock_request *
relock_overflow_begin(struct relock_thread *self, const struct relock_request *request) {
  if (RELOCK_UNLIKELY(!self))
    return NULL;
  if (RELOCK_UNLIKELY(!self->watched))
    relock_overflow_watch(self);
  const struct relock_request *outer = self->running;
  self->running = request;
  return outer;
}

static inline void relock_overflow_end(struct relock_thread *self,
                                       const struct relock_request *outer) {
  if (RELOCK_LIKELY(self != NULL))
    self->running = outer;
}

#endif
