/* SPDX-License-Identifier: MIT
 *
 * Points of a simulation: each is a process of its own, since the runtime begins with the process,
 * and several run at a time. They print in the order in which they were asked for.
 */
#ifndef RELOCK_SIM_JOBS_H
#define RELOCK_SIM_JOBS_H

#include <stddef.h>

enum { SIM_MAX_JOBS = 1024, SIM_MAX_WORDS = 20 };

struct sim_job {
  char *words[SIM_MAX_WORDS]; /* of its command, the last one null */
  unsigned word_count;
  char name[300]; /* for messages */
  char room[8192];
  size_t used;
};

void sim_job_word(struct sim_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs this program again for each number from 0 on: `describe` says with which words. `at_a_time`:
 * at most SIM_MAX_JOBS. If one fails, it says which and exits with its status. */
void sim_run_jobs(size_t count, int at_a_time,
                  void (*describe)(size_t number, struct sim_job *job, void *context),
                  void *context);

#endif
