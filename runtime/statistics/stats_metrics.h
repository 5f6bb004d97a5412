/* SPDX-License-Identifier: MIT
 *
 * Statistics in the text format of Prometheus (version 0.0.4), for the textfile collector of its
 * node_exporter. Names and meanings: README.md.
 *
 * Counters never go down while the process lives, as that would be taken for a restart: so there
 * are only sums to which threads add. Made as relock_stats_text() makes a profile.
 */
#ifndef RELOCK_STATISTICS_STATS_METRICS_H
#define RELOCK_STATISTICS_STATS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct relock_report;

/* with_pid: in each label set, for files of several processes that are collected together. */
const char *relock_stats_metrics(const struct relock_report *report, bool with_pid, size_t *length);

#endif
