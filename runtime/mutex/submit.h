/* SPDX-License-Identifier: MIT
 *
 * Sections that nobody waits for. A request that a thread has submitted stays in its slot at the
 * server while the thread goes on; there is one at each server at most.
 *
 * relock_submit(): one in all, and every call of this library by the thread that others could
 * notice first waits for it (relock_settle()): so what they see is what they would have seen had it
 * been run at its submission. These are the rules R1 and R2 of Shahmirzadi's thesis (2016, section
 * 3.4.3) in the simplest form that keeps them.
 *
 * relock_submission_start(): any number, in the caller's memory. The request is a chain of them,
 * all for one mutex, which grows at its end while it is being run:
 *
 *     request --> submission --> submission --> ... --> last
 *                    next           next              next: null, or CLOSED
 *
 * It is run a section at a time, one in each turn of the server (relock_run_chain()): the section,
 * then a look for the next, which closes the chain where there is none, and only then the
 * submission is done: its memory is the client's from there on. The client appends to the last,
 * unless that is closed: then the request is about to be done, the client waits for that, and posts
 * a new one. So each submission is run once, those of a chain in their order, and the client holds
 * no pointer to one that was waited for.
 */
#ifndef RELOCK_MUTEX_SUBMIT_H
#define RELOCK_MUTEX_SUBMIT_H

#include "../base/request.h"
#include "../base/thread.h"

/* Whether any thread of the process has ever submitted a section. */
extern uint32_t relock_submits RELOCK_HIDDEN;

/* A section whose times are taken: of the submission to which the context points. */
int relock_run_submitted(void *submission) RELOCK_HIDDEN;

/* What the request of a chain carries. */
struct relock_chain {
  relock_section_t section; /* the first one's, as the program knows it: for the debugger */
  relock_submission_t *first;
};

/* Runs the first of the chain and takes it off. 1: there are others. */
int relock_run_chain(void *chain) RELOCK_HIDDEN;

/* In the place of one that cannot be submitted; caller: of relock_submit(). */
int relock_execute_submitted(relock_mutex_t *mutex, const struct relock_call *call,
                             const void *caller) RELOCK_HIDDEN;

/* Waits for all that the thread has submitted. */
void relock_submitted_settle(struct relock_thread *self) RELOCK_HIDDEN;

/* The section of a line as the program knows it, see relock_section_asked_for(). */
relock_section_t relock_unwrapped_section(const struct relock_request *request) RELOCK_HIDDEN;

static inline bool relock_must_settle(void) {
  return RELOCK_UNLIKELY(relock_load_relaxed(&relock_submits)) && relock_own_record &&
         relock_own_record->rcl_submitted && !relock_own_record->rcl_settles;
}
static inline void relock_settle(void) {
  if (relock_must_settle())
    relock_submitted_settle(relock_own_record);
}

#endif
