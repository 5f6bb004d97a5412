/* SPDX-License-Identifier: MIT
 *
 * The start and the end of recording, and what a fork makes of it.
 */
#ifndef RELOCK_PROFILER_RECORD_H
#define RELOCK_PROFILER_RECORD_H

#include "thread.h"

/* Begins recording in a new file of the directory the environment names. */
bool record_start(void);
/* In the child of a fork: goes on in a file of its own, with all names and no counts. */
bool record_restart(struct thread *survivor);
/* Keeps what the parent's records will no longer tell when the child gets to copy them. */
void record_before_fork(struct thread *thread);

#endif
