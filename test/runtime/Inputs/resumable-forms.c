/* SPDX-License-Identifier: MIT
 * All forms of the waits, in the oldest C and in C++. */
#include <relock/relock.h>

static relock_cond_t cond = RELOCK_COND_INITIALIZER;

struct forms {
  relock_resume_t resume;
  struct timespec deadline;
  int turns;
};

static int wait_in_all_forms(void *context) {
  struct forms *forms = (struct forms *)context;
  switch (forms->resume.at) {
  case 0:
    for (forms->turns = 0; forms->turns < 2; forms->turns++) {
      if (forms->turns == 0)
        RELOCK_COND_WAIT(&forms->resume, &cond, 1);
      else
        RELOCK_COND_TIMEDWAIT(&forms->resume, &cond, &forms->deadline, 2);
      if (forms->resume.error)
        return 1;
      RELOCK_COND_CLOCKWAIT(&forms->resume, &cond, 1, &forms->deadline, 3);
    }
  }
  return 0;
}

int run(relock_mutex_t *mutex, struct forms *forms);
int run(relock_mutex_t *mutex, struct forms *forms) {
  return relock_execute_resumable(mutex, wait_in_all_forms, forms, &forms->resume) +
         relock_execute_resumable_any_thread(mutex, wait_in_all_forms, forms, &forms->resume);
}
