/* SPDX-License-Identifier: MIT
 *
 * A stack overflow inside a section that another thread runs would look like one of that thread.
 * This names the section before the process dies of it as it would have anyway.
 *
 * It costs a thread that runs sections for others one sigaltstack(2) in its life, and the process
 * one handler of SIGSEGV, installed when a section is first run for another thread and only if the
 * program had none then. A handler or an alternate stack of the program's own takes precedence,
 * before or after.
 */
#ifndef RELOCK_BASE_OVERFLOW_H
#define RELOCK_BASE_OVERFLOW_H

#include <relock/relock.h>

struct relock_thread;

/* Bracket a section that this thread runs for a client. The second takes what the first returned:
 * the section in which it is nested, or null. */
relock_section_t relock_overflow_begin(const struct relock_thread *client,
                                       relock_section_t section);
void relock_overflow_end(relock_section_t outer);

#endif
