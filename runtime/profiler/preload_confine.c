/* SPDX-License-Identifier: MIT
 *
 * A program that lists the system calls that it will make does not know of those that reading a
 * counter takes, and could be killed for one: from here on there are none.
 */
#include "events.h"
#include "preload.h"
#include "real.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

EXPORT int prctl(int option, ...) {
  unsigned long arguments[4];
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; i++)
    arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  real_resolve();
  if (option == PR_SET_SECCOMP)
    events_confine();
  return real.prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
