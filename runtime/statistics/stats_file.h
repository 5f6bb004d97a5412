/* SPDX-License-Identifier: MIT
 *
 * Statistics as a file.
 */
#ifndef RELOCK_STATISTICS_STATS_FILE_H
#define RELOCK_STATISTICS_STATS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a file that is to be written at exit, when it may be forbidden to open one, and empties it.
 * Negative: it cannot be opened, or is no file. */
int relock_stats_file_open(const char *file);

/* Writes by that descriptor; asks the system for nothing else but whether it is still the file's.
 * False: it is not. *error: 0 or an error number. */
bool relock_stats_file_write_open(int descriptor, const char *text, size_t length, int *error);

/* 0 or an error number. The file appears whole or not at all: it is written beside its place and
 * then renamed. What is no file, such as a pipe or /dev/null, is written to. */
int relock_stats_file_write(const char *file, const char *text, size_t length);

#endif
