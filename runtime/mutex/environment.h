/* SPDX-License-Identifier: MIT
 *
 * Options from the environment that name lock classes, and when all of it is read.
 *
 *   RELOCK_LOCKS="class=algorithm,..."   the last entry that fits a class wins, and an entry that
 *                                        names it wins over "*"
 *   RELOCK_STRICT=1                      a class there that the program has not ends it
 *   RELOCK_STATS=1                       statistics at exit, as a table
 *   RELOCK_STATS=FILE                    as a profile, see stats_file.c; %p: the process's number
 *   RELOCK_STATS_FORMAT=prometheus       or in that format, see stats_metrics.h
 *   RELOCK_STATS_EVERY=SECONDS           and every so often before
 *   RELOCK_STATS_SIGNAL=USR2             and on that signal
 *   RELOCK_PROFILE_DIR=FOLDER            set by `relock profile`: statistics become part of its
 * profile
 *
 * The others: base/options.h.
 */
#ifndef RELOCK_MUTEX_ENVIRONMENT_H
#define RELOCK_MUTEX_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct relock_algorithm;

struct relock_choice {
  const char *name; /* of the class; not terminated */
  size_t name_length;
  const struct relock_algorithm *algorithm;
  unsigned server; /* from 1 on */
};

/* Reads the environment once; ends the program when a value is wrong. */
void relock_options_read(void);

/* The value of RELOCK_STRICT. */
bool relock_option_strict(void);

/* Whether another process has read it, which this one was forked from. */
bool relock_options_are_inherited(void);
void relock_options_after_fork(void); /* in the child */

/* The algorithm that RELOCK_LOCKS gives to a class, and its server; or null. */
const struct relock_algorithm *relock_option_algorithm(const char *class_name, unsigned *server);

/* Iterates over the entries of RELOCK_LOCKS: a position to go on from, or null after the last. */
const char *relock_option_first(struct relock_choice *choice);
const char *relock_option_next(const char *position, struct relock_choice *choice);

#endif
