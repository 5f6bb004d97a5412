/* SPDX-License-Identifier: MIT
 *
 * Whether a setting is better than another one, by repetitions of both in turns under several
 * loads.
 */
#ifndef RELOCK_BENCH_VERDICT_H
#define RELOCK_BENCH_VERDICT_H

#include <stdbool.h>

/* What one repetition gave under one load. */
struct trial {
  double rate; /* sections per second */
  double worst_ns;
};

struct spread {
  double median, least, most;
};

struct verdict {
  struct spread gain;  /* in sections per second, all loads alike: 0.01 is 1 % more */
  struct spread worst; /* wait of a repetition, ns */
  int ahead_in;        /* so many repetitions */
  bool ahead;          /* in all but one of nine, and worth it */
  int harmed;          /* a load under which it was so far behind; -1: none */
};

/* Fewer repetitions than these tell nothing: eight heads of nine are one chance in fifty. */
enum { LEAST_REPETITIONS = 9 };

/* Sorts the values. */
struct spread spread_of(double *values, int count);

/* Both have a trial for each load of each repetition: trials[repetition * loads + load]. */
struct verdict judge(const struct trial *tried, const struct trial *against, int repetitions,
                     int loads);

#endif
