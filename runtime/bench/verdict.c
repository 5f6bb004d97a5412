/* SPDX-License-Identifier: MIT
 *
 * A setting is ahead if it was so in all repetitions but one of nine, whatever the machine did
 * meanwhile: no assumption on how disturbances are distributed. And it must not be so far behind
 * under any one load, which the mean over the loads would hide.
 */
#include "verdict.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>

/* A median gain or loss below this share is none, however often it comes. */
#define WORTH 0.01

struct spread spread_of(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return (struct spread){(values[(count - 1) / 2] + values[count / 2]) / 2, values[0],
                         values[count - 1]};
}

struct comparison {
  struct spread gain;
  int ahead_in, behind_in; /* repetitions */
};

/* Over these loads of each repetition, as a geometric mean: a load with many sections counts no
 * more than one with few. */
static struct comparison compare(const struct trial *tried, const struct trial *against,
                                 int repetitions, int loads, int first, int end, double *gains) {
  struct comparison comparison = {0};
  for (int i = 0; i < repetitions; i++) {
    double sum = 0;
    for (int at = i * loads + first; at < i * loads + end; at++)
      sum += log(tried[at].rate / against[at].rate);
    gains[i] = exp(sum / (end - first)) - 1;
    comparison.ahead_in += gains[i] > 0;
    comparison.behind_in += gains[i] < 0;
  }
  comparison.gain = spread_of(gains, repetitions);
  return comparison;
}

static double worst_of(const struct trial *trials, int loads) {
  double worst = 0;
  for (int load = 0; load < loads; load++)
    worst = fmax(worst, trials[load].worst_ns);
  return worst;
}

struct verdict judge(const struct trial *tried, const struct trial *against, int repetitions,
                     int loads) {
  struct verdict verdict = {.harmed = -1};
  const bool tells = repetitions >= LEAST_REPETITIONS;
  const int enough = repetitions - repetitions / LEAST_REPETITIONS;
  double *values = calloc((size_t)repetitions, sizeof *values);
  if (!values)
    fail(2, "no memory");
  for (int load = 0; load < loads && verdict.harmed < 0; load++) {
    struct comparison under = compare(tried, against, repetitions, loads, load, load + 1, values);
    if (tells && under.behind_in >= enough && under.gain.median <= -WORTH)
      verdict.harmed = load;
  }
  const struct comparison all = compare(tried, against, repetitions, loads, 0, loads, values);
  verdict.gain = all.gain;
  verdict.ahead_in = all.ahead_in;
  verdict.ahead = tells && all.ahead_in >= enough && all.gain.median >= WORTH;
  for (int i = 0; i < repetitions; i++)
    values[i] = worst_of(&tried[i * loads], loads);
  verdict.worst = spread_of(values, repetitions);
  free(values);
  return verdict;
}
