/* SPDX-License-Identifier: MIT
 *
 * Statistics as a file at exit.
 */
#ifndef RELOCK_BASE_STATS_FILE_H
#define RELOCK_BASE_STATS_FILE_H

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>

/* Remembers where to write. False: the name is too long. */
bool relock_stats_file_start(const char *file);

/* Writes the classes, with the list of classes held. messages: a descriptor for an error. */
void relock_stats_file_write(relock_class_t *const *classes, size_t count, int messages);

#endif
