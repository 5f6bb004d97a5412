/* SPDX-License-Identifier: MIT
 *
 * The statistics of one moment, and how they look as tables.
 */
#ifndef RELOCK_STATISTICS_STATS_REPORT_H
#define RELOCK_STATISTICS_STATS_REPORT_H

#include "times.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>

struct relock_report {
  struct relock_report_class {
    struct relock_report_class *next;
    const char *name;
    uint32_t recorded_as; /* see times.h */
    relock_statistics_t counts;
    struct relock_times_sum times;
  } *classes; /* by name; all of them, the default one only if it was used */
  struct relock_section_times sections;
  size_t server_count;
  struct relock_report_server {
    unsigned number;
    relock_server_statistics_t counts;
  } servers[RELOCK_MAX_SERVERS]; /* those that have run sections, by number */
};

/* Of a class that is registered. */
void relock_stats_of_class(const relock_class_t *lock_class, relock_statistics_t *statistics);

/* Of now, in memory that the next call uses again: by one thread at a time. Null: no memory. It
 * asks the system for none unless there are more classes than ever. */
struct relock_report *relock_report_take(void);

/* The same by a signal handler. False: the list of lock classes is being used; who does so calls
 * what relock_guards_tell() was told when it is free. */
bool relock_report_take_if_free(struct relock_report **report);

/* Makes room for it, before the program may forbid that. */
void relock_report_prepare(void);

void relock_report_print(const struct relock_report *report, int descriptor);

#endif
