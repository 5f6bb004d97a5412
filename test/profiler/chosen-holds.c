// SPDX-License-Identifier: MIT
// The rule by which the profiler and librelock choose the holds that are timed, on a clock of its
// own: all of a thread that acquires few locks, about five per millisecond of processor time of one
// that acquires many, at least one in 128; and what is chosen stands for all that there were, also
// where the thread's rate changes and its own rhythm is that of the choice.
// RUN: %cc -g -O2 %s %source_root/runtime/statistics/timing.c -o %t -I%source_root/runtime/statistics
// RUN: %t
#include "timing.h"

#include <math.h>
#include <stdio.h>

enum { MILLISECOND = 2000000, ACQUISITIONS = 1600000 };

static uint64_t worked; /* ns of processor time */
static uint64_t processor_time(void) { return worked; }

struct result {
  double timed, sum, each_eighth; /* of all; and what they stand for, of all and of every eighth */
  uint64_t period;
};

/* `per_millisecond` of processor time, of which it has a part; `slower`: from the middle on, by
 * that factor. */
static struct result run(uint32_t number, double per_millisecond, double part, double slower) {
  struct relock_timing timing;
  struct result result = {0, 0, 0, 0};
  double now = 1e9;
  worked = 1;
  relock_timing_begin(&timing, number);
  for (int i = 0; i < ACQUISITIONS; i++) {
    const double gap = i < ACQUISITIONS / 2 ? 1 : slower;
    now += MILLISECOND / per_millisecond / part * gap;
    worked += (uint64_t)(1e6 / per_millisecond * gap);
    if (--timing.due.countdown)
      continue;
    const uint64_t weight = timing.due.period;
    timing.last = (uint64_t)now;
    result.timed++;
    result.sum += (double)weight;
    if (i % 8 == 0)
      result.each_eighth += (double)weight;
    timing.block_count++;
    relock_timing_adapt(&timing, MILLISECOND, processor_time);
    timing.due.countdown = relock_random_gap(&timing.due.random, timing.due.period);
  }
  result.period = timing.due.period;
  result.timed /= ACQUISITIONS;
  result.sum /= ACQUISITIONS;
  result.each_eighth /= ACQUISITIONS / 8;
  return result;
}

static int failed;

static void expect(const char *name, struct result result, double least, double most) {
  const int holds = result.timed >= least && result.timed <= most && fabs(result.sum - 1) < 0.05 &&
                    fabs(result.each_eighth - 1) < 0.1;
  printf("%-32s %7.3f %% timed, %6.2f %% and %6.2f %% of each eighth accounted for, at last 1 in "
         "%u%s\n",
         name, 100 * result.timed, 100 * result.sum, 100 * result.each_eighth,
         (unsigned)result.period, holds ? "" : ": wrong");
  failed |= !holds;
}

int main(void) {
  for (uint32_t number = 1; number <= 8; number++) {
    expect("few", run(number, 15, 1, 1), 1, 1);
    expect("many", run(number, 100, 1, 1), 0.045, 0.065);
    expect("very many", run(number, 10000, 1, 1), 1 / 128.0, 0.015);
    expect("many of a thread that waits", run(number, 100, 0.3, 1), 0.045, 0.065);
    expect("few by time, of one that waits", run(number, 100, 0.005, 1), 1, 1);
    expect("ever fewer", run(number, 5000, 1, 100), 0.025, 0.1);
  }
  return failed;
}
