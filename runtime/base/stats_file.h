/* SPDX-License-Identifier: MIT
 *
 * Statistics as a file.
 */
#ifndef RELOCK_BASE_STATS_FILE_H
#define RELOCK_BASE_STATS_FILE_H

#include <stdbool.h>

struct relock_report;

/* Remembers when and as what the process began. */
void relock_stats_file_start(void);

/* 0 or an error number. running: the process goes on. */
int relock_stats_file_write(const char *file, const struct relock_report *report, bool running);

#endif
