/* SPDX-License-Identifier: MIT
 *
 * When statistics are written, and where: RELOCK_STATS, RELOCK_STATS_EVERY, `relock profile`.
 */
#ifndef RELOCK_STATISTICS_STATS_OUTPUT_H
#define RELOCK_STATISTICS_STATS_OUTPUT_H

#include <stdint.h>

/* Prints the tables at exit or, if file is not null, writes the profile there, and meanwhile every
 * so many seconds (0: not). Called once, before any lock is used. */
void relock_stats_start(const char *file, uint32_t seconds);

/* Under `relock profile`: the profile goes into its folder, too, where it becomes a part of that
 * program's profile, see stats_share.h. Called before relock_stats_start(), or without it. */
void relock_stats_start_in(const char *folder);

/* Writes the profile of now there. 0 or an error number. */
int relock_stats_write(const char *file);

/* Starts the threads that write meanwhile, if that is asked for. By the first thread. */
void relock_stats_thread_start(void);

/* The first thread has ended by pthread_exit. The process is to end with its last own thread, so
 * the one that writes ends now. */
void relock_stats_first_thread_ends(void);

/* In the child, which has no such thread. */
void relock_stats_output_after_fork(void);

#endif
