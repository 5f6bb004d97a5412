// SPDX-License-Identifier: MIT
// The standard error that the report states is the actual one, also where a few long values of which
// each is timed outweigh all that are chosen: values of known distributions are
// chosen as the recorder chooses holds, by gaps of random length and, after a long one, in any
// case, and recorded by its own function, many times over; what the totals are off is compared with
// what is stated. The random numbers are the same in every run.
// RUN: %cc -g -O2 %s -o %t -I%source_root/runtime/profiler -lm
// RUN: %t
#include "Inputs/random.h"
#include "histograms.h"

#include <math.h>
#include <stdio.h>

enum { VALUES = 20000, TRIALS = 400, LONG = 4000, AFTER_LONG = 16, FIRST = 64 };

static uint64_t exponential(int i) { return (void)i, (uint64_t)(-300 * log(uniform())); }
static uint64_t with_tail(int i) { return (void)i, (uint64_t)(100 / sqrt(uniform())); }
static uint64_t few_long(int i) { return (void)i, uniform() < 0.01 ? 6000 : 100; }
static uint64_t in_turns(int i) { return i % 8 ? 500 : 2300; }
static uint64_t long_first(int i) { return i < 14 ? 1000000 : 20 + next() % 20; }

static const struct {
  const char *name;
  uint64_t (*value)(int);
  uint32_t period;
} kinds[] = {{"exponential", exponential, 64},
             {"exponential", exponential, 5},
             {"with a tail", with_tail, 20},
             {"few long", few_long, 20},
             {"in turns", in_turns, 20},
             {"long first", long_first, 20}};

static uint64_t gap(uint32_t period) { return 1 + next() % (2 * period - 1); }

static void record(struct relock_histogram *histogram, const uint64_t *values, uint32_t period) {
  uint64_t countdown = gap(period);
  uint32_t sure = FIRST;
  for (int i = 0; i < VALUES; i++) {
    uint32_t weight = 0;
    if (--countdown == 0) {
      weight = period;
      countdown = gap(period);
    }
    if (sure) {
      weight = 1;
      sure--;
    }
    if (!weight)
      continue;
    histogram_add(histogram, values[i], weight);
    if (values[i] >= LONG)
      sure = AFTER_LONG;
  }
}

int main(void) {
  static uint64_t values[VALUES];
  int failed = 0;
  for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
    double total = 0, stated = 0, actual = 0, ratio;
    for (int i = 0; i < VALUES; i++)
      total += (double)(values[i] = kinds[kind].value(i));
    for (int trial = 0; trial < TRIALS; trial++) {
      struct relock_histogram histogram = {0};
      double likely, error;
      record(&histogram, values, kinds[kind].period);
      likely = relock_likely_total(&histogram.chance, histogram.count, histogram.total, VALUES);
      error = likely / total - 1;
      actual += error * error / TRIALS;
      stated += relock_relative_variance(&histogram.chance, likely) / TRIALS;
    }
    ratio = sqrt(stated / actual);
    printf("%-12s 1 in %2u: off by %.2f %%, stated %.2f %%\n", kinds[kind].name, kinds[kind].period,
           100 * sqrt(actual), 100 * sqrt(stated));
    failed |= ratio < 0.85 || ratio > 1.2;
  }
  return failed;
}
