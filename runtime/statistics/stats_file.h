/* SPDX-License-Identifier: MIT
 *
 * Statistics as a file.
 */
#ifndef RELOCK_STATISTICS_STATS_FILE_H
#define RELOCK_STATISTICS_STATS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Who may read a file that is made: a profile has the program's command in it; numbers are for
 * others to collect, as the program's umask has it. */
enum relock_stats_readers { RELOCK_READ_BY_OWNER = 0600, RELOCK_READ_BY_ALL = 0644 };

/* Opens a file that is to be written at exit, when it may be forbidden to open one, and empties it.
 * Negative: it cannot be opened, or is no file. */
int relock_stats_file_open(const char *file, enum relock_stats_readers readers);

/* Writes by that descriptor; asks the system for nothing else but whether it is still the file's.
 * False: it is not. *error: 0 or an error number. */
bool relock_stats_file_write_open(int descriptor, const char *text, size_t length, int *error);

/* 0 or an error number. The file appears whole or not at all: it is written beside its place and
 * then renamed. What is no file, such as a pipe or /dev/null, is written to, and a socket of the
 * system's own (AF_UNIX, a stream) connected to. in_handler: who reads slowly there is waited for
 * only so long. By one thread at a time. */
int relock_stats_file_write(const char *file, enum relock_stats_readers readers, const char *text,
                            size_t length, bool in_handler);

#endif
