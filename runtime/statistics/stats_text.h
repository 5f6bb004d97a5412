/* SPDX-License-Identifier: MIT
 *
 * Statistics as a profile, which `relock report` reads. "source" says who wrote it; what only
 * librelock knows stands in each class's "librelock". Format: tool/profile/doc/file.md.
 *
 * Making the text asks the system for nothing: the program may have forbidden it, and is about to
 * end.
 */
#ifndef RELOCK_STATISTICS_STATS_TEXT_H
#define RELOCK_STATISTICS_STATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct relock_report;

/* Remembers when and as what the process began. */
void relock_stats_text_start(void);

/* Finds out what the text says of the program and the machine, and makes room for it; once, before
 * the first text. */
void relock_stats_text_prepare(void);

/* A forked child is another process. */
void relock_stats_text_after_fork(void);

/* Of the process that this one is, a forked one included; and the name of its executable. */
int relock_stats_text_pid(void);
const char *relock_stats_text_program(void);

/* Whether there can be places in it. */
bool relock_stats_text_has_places(bool in_handler);

/* In memory that the next call uses again: by one thread at a time. Null: there is none.
 * running: the process goes on. places: with the places in the program that take the locks. */
const char *relock_stats_text(const struct relock_report *report, bool running, bool places,
                              size_t *length);

#endif
