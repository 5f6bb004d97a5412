/* SPDX-License-Identifier: MIT
 *
 * How many processors the process's control groups leave it: a container has the time of two, for
 * example, and may use it on all 64. Also part of the tool, which says so (`relock doctor`).
 */
#ifndef RELOCK_BASE_QUOTA_H
#define RELOCK_BASE_QUOTA_H

#ifdef __cplusplus
extern "C" {
#endif

/* The tightest quota of the groups from the process's own up to the mount's, in processors, rounded
 * up; 0: there is none. `root` stands before /proc and /sys: "", or where a test has its own.
 * Changes errno, and uses neither the C library's allocator nor its streams. */
unsigned relock_quota(const char *root);

#ifdef __cplusplus
}
#endif
#endif
