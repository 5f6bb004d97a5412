/* SPDX-License-Identifier: MIT
 *
 * What the beginning and the end of a thread mean to the rooms above base/.
 */
#ifndef RELOCK_PROCESS_THREADS_H
#define RELOCK_PROCESS_THREADS_H

#include "../base/thread.h"

extern const struct relock_thread_life relock_process_threads RELOCK_HIDDEN;

/* By the thread that the process began with, or the only one of a forked child. False: when it ends
 * will not be known. */
bool relock_process_first_thread_starts(void);

#endif
