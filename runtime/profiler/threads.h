/* SPDX-License-Identifier: MIT
 *
 * Threads, as they begin, get their names, and end.
 */
#ifndef RELOCK_PROFILER_THREADS_H
#define RELOCK_PROFILER_THREADS_H

#include "thread.h"

struct thread *thread_take(void);
/* `again`: the thread had ended its records, and then locks in a destructor of its own. */
void thread_begin(struct thread *thread, uint64_t now, bool again);
/* The program names a thread, which may not have begun yet. */
void thread_name(pthread_t id, const char *name);
void thread_finish(struct thread *thread, uint64_t now);
void thread_give_back(struct thread *thread);

/* In the child of a fork: all others have stayed behind. */
void threads_restart(struct thread *survivor);

#endif
