/* SPDX-License-Identifier: MIT
 *
 * Filters of system calls (seccomp). A program that has installed one may be killed for a call that
 * it does not make itself, so from then on the profiler makes none: what memory it needs is
 * reserved before, and processes that start later under the filter are not recorded. Where the
 * cycle counter, too, is forbidden, as it is by the strict mode, recording ends.
 */
#define _GNU_SOURCE
#include "preload_seccomp.h"
#include "events.h"
#include "preload.h"
#include "real.h"
#include "store.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>

static bool filtered; /* a filter is in force, and stays: what it takes has been done */

bool seccomp_begins(long operation, const void *filter) {
  /* A library that asks what the system supports passes no filter. */
  const bool installs = operation == SECCOMP_SET_MODE_FILTER && filter &&
                        !__atomic_load_n(&filtered, __ATOMIC_RELAXED);
  struct thread *thread;
  if (installs || operation == SECCOMP_SET_MODE_STRICT)
    events_confine(true);
  if (operation == SECCOMP_SET_MODE_STRICT)
    recording_stop();
  thread = installs ? recording_enter() : NULL;
  if (!thread)
    return false;
  record_seal(true);
  recording_leave(thread);
  return true;
}

bool seccomp_begins_by_mode(unsigned long mode, const void *filter) {
  return seccomp_begins(
      mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT : SECCOMP_SET_MODE_FILTER, filter);
}

/* An inherited filter may forbid what the profiler has to do when a program starts. Its folder is
 * taken out of the environment in place, which needs no memory and no lock. */
void seccomp_ends(bool installed) {
  char *name = installed ? secure_getenv(RELOCK_RECORDS_DIR) : NULL;
  if (name)
    *name = 0;
  struct thread *thread = installed ? NULL : recording_enter();
  if (installed)
    __atomic_store_n(&filtered, true, __ATOMIC_RELAXED);
  if (thread) {
    events_confine(false);
    record_seal(false);
    recording_leave(thread);
  }
}

EXPORT int prctl(int option, ...) {
  unsigned long arguments[4];
  bool sealed = false;
  int result, error;
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; i++)
    arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  real_resolve();
  if (option == PR_SET_SECCOMP)
    sealed = seccomp_begins_by_mode(arguments[0], (const void *)arguments[1]);
  else if (option == PR_SET_TSC && arguments[0] == PR_TSC_SIGSEGV)
    recording_stop();
  result = real.prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  error = errno;
  if (sealed)
    seccomp_ends(result == 0);
  errno = error;
  return result;
}
