/* SPDX-License-Identifier: MIT
 *
 * Sections that nobody waits for. A thread has one at a time under way, in its slot, and every call
 * of this library by the thread that others could notice first waits for it (relock_settle()): so
 * what they see is what they would have seen had it been run at its submission. These are the rules
 * R1 and R2 of Shahmirzadi's thesis (2016, section 3.4.3) in the simplest form that keeps them.
 */
#ifndef RELOCK_MUTEX_SUBMIT_H
#define RELOCK_MUTEX_SUBMIT_H

#include "../base/request.h"
#include "../base/thread.h"

/* Whether any thread of the process has ever submitted a section. */
extern uint32_t relock_submits RELOCK_HIDDEN;

/* A section whose times are taken: of the submission to which the context points. */
int relock_run_submitted(void *submission) RELOCK_HIDDEN;

/* In the place of one that cannot be submitted; caller: of relock_submit(). */
int relock_execute_submitted(relock_mutex_t *mutex, const struct relock_call *call,
                             const void *caller) RELOCK_HIDDEN;

/* Waits for the section that the thread has submitted. */
void relock_submitted_settle(struct relock_thread *self) RELOCK_HIDDEN;

/* The section of a line as the program knows it, see relock_section_asked_for(). */
relock_section_t relock_unwrapped_section(const struct relock_request *request) RELOCK_HIDDEN;

static inline void relock_settle(void) {
  if (RELOCK_UNLIKELY(relock_load_relaxed(&relock_submits)) && relock_own_record &&
      relock_own_record->rcl_submitted)
    relock_submitted_settle(relock_own_record);
}

#endif
