/* SPDX-License-Identifier: MIT
 *
 * Around the call that installs a filter of system calls; see preload_seccomp.c.
 */
#ifndef RELOCK_PROFILER_PRELOAD_SECCOMP_H
#define RELOCK_PROFILER_PRELOAD_SECCOMP_H

#include <stdbool.h>

/* The arguments of SYS_seccomp, or of prctl() after PR_SET_SECCOMP. True: `seccomp_ends` has to
 * follow. */
bool seccomp_begins(long operation, const void *filter);
bool seccomp_begins_by_mode(unsigned long mode, const void *filter);
void seccomp_ends(bool installed);

#endif
