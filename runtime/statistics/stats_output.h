/* SPDX-License-Identifier: MIT
 *
 * When statistics are written, and where: RELOCK_STATS and RELOCK_STATS_*, `relock profile`.
 */
#ifndef RELOCK_STATISTICS_STATS_OUTPUT_H
#define RELOCK_STATISTICS_STATS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* Of the variables RELOCK_STATS and RELOCK_STATS_*. */
struct relock_stats_wanted {
  const char *file; /* null: the tables at exit, and nothing else */
  bool metrics;     /* else a profile */
  uint32_t seconds; /* it is written every so many, too; 0: not */
  int signal;       /* and on that one; 0: none */
};

/* Called once, before any lock is used. */
void relock_stats_start(const struct relock_stats_wanted *wanted);

/* Under `relock profile`: the profile goes into its folder, too, where it becomes a part of that
 * program's profile, see stats_share.h. Called before relock_stats_start(), or without it. */
void relock_stats_start_in(const char *folder);

/* Writes the profile of now there. 0 or an error number. */
int relock_stats_write(const char *file);

/* Prepares for the signal, if that is asked for. Before there are threads. */
void relock_stats_signal_start(void);

/* Starts the threads that write meanwhile, if that is asked for. By the first thread. */
void relock_stats_thread_start(void);

/* The first thread has ended by pthread_exit. The process is to end with its last own thread, so
 * the one that writes ends now. */
void relock_stats_first_thread_ends(void);

/* In the child, which has no such thread. */
void relock_stats_output_after_fork(void);

#endif
