/* SPDX-License-Identifier: MIT
 *
 * Resumable sections: sections that wait on condition variables. No thread sleeps in one.
 *
 *                 client                          whoever runs the section, under the mutex
 *
 *            .--> submits a step by relock_execute --> runs the section, from its start or from
 *            |                                         behind its wait
 *            |                                           |            |
 *            |                      it wants to wait ----'            `---- it is done
 *            |                      enlists the client                |
 *            |                           |                            |
 *            `-- sleeps until signalled -'                            `--> returns the result
 *                or until the deadline
 *
 * The client is on the condition's list before the mutex is released, as a holder that waits is, so
 * that no signal is lost in between; it may be signalled before its submission has returned, and
 * does not sleep then. The step, with the client's place on the list, lies in the client's frame,
 * which outlives both.
 *
 * A step that another thread runs for the client touches no thread-local variable and does not
 * wait: enlisting is lock-free (cond.c).
 */
#include "../base/identity.h"
#include "../base/panic.h"
#include "../locks/section.h"
#include "../server/client.h"
#include "cond.h"

#include <stdbool.h>
#include <stddef.h>

struct relock_step {
  relock_mutex_t *mutex;
  relock_section_t section;
  void *context;
  relock_resume_t *resume;
  bool in_section; /* the client runs a section under the same mutex already */
  int result;
  struct relock_cond_waiter waiter;
};

static const struct timespec *deadline_of(const relock_resume_t *resume) {
  return resume->relock_private.timing == RELOCK_WAIT_UNTIMED ? NULL
                                                              : &resume->relock_private.deadline;
}

/* Fills in the clock, while the condition variable is sure to exist: once the client is signalled
 * it may not. */
static void choose_clock(relock_resume_t *resume) {
  if (resume->relock_private.timing == RELOCK_WAIT_UNTIMED)
    resume->relock_private.clock = CLOCK_MONOTONIC;
  else if (resume->relock_private.timing == RELOCK_WAIT_OWN_CLOCK)
    resume->relock_private.clock = (clockid_t)resume->relock_private.cond->relock_private.clock;
}

static void check_may_wait(const struct relock_step *step) {
  if (!step->resume->relock_private.cond)
    relock_panic("relock_execute_resumable: the section %p returned RELOCK_WAITS and named no "
                 "condition variable; wait with RELOCK_COND_WAIT and the relock_resume_t that was "
                 "passed to relock_execute_resumable",
                 (void *)(uintptr_t)step->section);
  if (step->in_section)
    relock_panic("relock_execute_resumable: the section %p waits inside another section under the "
                 "same mutex %p, which it cannot release; hold the mutex with relock_mutex_lock "
                 "around the outer section instead",
                 (void *)(uintptr_t)step->section, (void *)step->mutex);
}

/* Runs the section up to its end or its next wait. A wait that cannot begin (EINVAL) is over at
 * once, with the mutex held all the time. */
int relock_run_step(void *step_call) {
  struct relock_step *step = ((const struct relock_step_call *)step_call)->step;
  relock_resume_t *resume = step->resume;
  for (;;) {
    resume->relock_private.cond = NULL;
    step->result = step->section(step->context);
    if (step->result != RELOCK_WAITS)
      return 0;
    check_may_wait(step);
    choose_clock(resume);
    resume->error = relock_cond_check_time(resume->relock_private.clock, deadline_of(resume));
    if (resume->error == 0) {
      relock_cond_enlist(resume->relock_private.cond, step->mutex, &step->waiter);
      return 0;
    }
  }
}

/* The caller runs a section under this mutex, which then knows its owner (a normal one has none).
 */
static bool is_in_section(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.owner) == relock_thread_pointer() &&
         (relock_executing(mutex) || relock_server_executes(mutex));
}

typedef int (*submit_t)(relock_mutex_t *mutex, relock_section_t section, void *context,
                        size_t size);

/* Its name is for the debugger, see mutex.c. */
static int relock_execute_steps(relock_mutex_t *mutex, relock_section_t section, void *context,
                                relock_resume_t *resume, submit_t submit, const void *caller) {
  struct relock_step step = {
      .mutex = mutex,
      .section = section,
      .context = context,
      .resume = resume,
      .in_section = is_in_section(mutex),
  };
  struct relock_step_call call = {&step, section, caller};
  for (;;) {
    submit(mutex, relock_run_step, &call, sizeof call);
    if (step.result != RELOCK_WAITS)
      return step.result;
    resume->error = relock_cond_sleep(resume->relock_private.cond, mutex, &step.waiter,
                                      resume->relock_private.clock, deadline_of(resume));
  }
}

int relock_execute_resumable(relock_mutex_t *mutex, relock_section_t section, void *context,
                             relock_resume_t *resume) {
  resume->at = 0;
  resume->error = 0;
  return relock_execute_steps(mutex, section, context, resume, relock_execute_copy,
                              __builtin_return_address(0));
}

int relock_execute_resumable_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                        void *context, relock_resume_t *resume) {
  resume->at = 0;
  resume->error = 0;
  return relock_execute_steps(mutex, section, context, resume, relock_execute_copy_any_thread,
                              __builtin_return_address(0));
}

int relock_execute_resumable_from(relock_mutex_t *mutex, relock_section_t section, void *context,
                                  relock_resume_t *resume) {
  return relock_execute_steps(mutex, section, context, resume, relock_execute_copy,
                              __builtin_return_address(0));
}

int relock_execute_resumable_from_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                             void *context, relock_resume_t *resume) {
  return relock_execute_steps(mutex, section, context, resume, relock_execute_copy_any_thread,
                              __builtin_return_address(0));
}
