/* SPDX-License-Identifier: MIT
 *
 * The interval between the j-th least and the j-th greatest of n ratios misses the true median if
 * fewer than j of them lie on one side of it, as heads of n coins: j is the greatest for which
 * that has a chance of 5 % at most.
 */
#include "ratio.h"

#include <math.h>
#include <stdlib.h>

#define CHANCE 0.05

/* Measured between the same two processors, it varies less; between near and far ones, more. */
#define SAME_DISTANCE 1.5

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* j; 0 if even the extremes are no such interval. */
static int order_of_bound(int count) {
  int order = 0;
  double exactly = ldexp(1, -count), at_most = exactly; /* `order` heads */
  while (2 * at_most <= CHANCE) {
    exactly *= (double)(count - order) / (order + 1);
    at_most += exactly;
    order++;
  }
  return order;
}

struct relock_bench_ratio relock_bench_ratio_of(double *ratios, int count) {
  struct relock_bench_ratio result = {count, RELOCK_BENCH_TOO_FEW, 0, 0, 0};
  if (count == 0)
    return result;
  qsort(ratios, (size_t)count, sizeof *ratios, ascending);
  const int order = order_of_bound(count), bound = order ? order - 1 : 0;
  result.median = (ratios[(count - 1) / 2] + ratios[count / 2]) / 2;
  result.low = ratios[bound];
  result.high = ratios[count - 1 - bound];
  if (order)
    result.told = result.low > 1    ? RELOCK_BENCH_FASTER
                  : result.high < 1 ? RELOCK_BENCH_SLOWER
                                    : RELOCK_BENCH_ALIKE;
  return result;
}

bool relock_bench_comparable(const double tried[2], const double against[2]) {
  const double all[] = {tried[0], tried[1], against[0], against[1]};
  double least = INFINITY, most = 0;
  for (int i = 0; i < 4; i++) {
    if (all[i] <= 0)
      continue;
    least = fmin(least, all[i]);
    most = fmax(most, all[i]);
  }
  return most == 0 || most <= SAME_DISTANCE * least;
}
