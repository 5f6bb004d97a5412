/* SPDX-License-Identifier: MIT
 *
 * The statistics of one moment, and how they look as tables.
 */
#ifndef RELOCK_BASE_STATS_REPORT_H
#define RELOCK_BASE_STATS_REPORT_H

#include <relock/relock.h>
#include <stddef.h>

struct relock_report {
  size_t class_count;
  struct relock_report_class {
    const char *name;
    relock_statistics_t counts;
  } *classes; /* by name; all of them, the default one only if it was used */
  size_t server_count;
  struct relock_report_server {
    unsigned number;
    relock_server_statistics_t counts;
  } servers[RELOCK_MAX_SERVERS]; /* those that have run sections, by number */
};

/* Memory for free(), or null. */
struct relock_report *relock_report_take(void);

void relock_report_print(const struct relock_report *report, int descriptor);

#endif
