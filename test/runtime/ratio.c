/* SPDX-License-Identifier: MIT
 *
 * What the benchmark concludes from given pairs of repetitions (runtime/bench/ratio.c).
 */
#include "../../runtime/bench/ratio.h"

#include "check.h"

#include <math.h>
#include <stdio.h>

const char *check_case = "ratio";

static bool is_near(double value, double expected) { return fabs(value - expected) < 1e-9; }

/* 1, 2, ..., count times the factor, not in order. */
static struct relock_bench_ratio of(int count, double factor) {
  double ratios[1000];
  for (int i = 0; i < count; i++)
    ratios[i] = factor * ((i * 7) % count + 1);
  return relock_bench_ratio_of(ratios, count);
}

static void check_bounds(int count, double low, double high) {
  struct relock_bench_ratio ratio = of(count, 1);
  CHECK(ratio.pairs == count);
  CHECK(is_near(ratio.median, (count + 1) / 2.0));
  CHECK(is_near(ratio.low, low) && is_near(ratio.high, high));
}

/* The tables of the sign test: of nine pairs one may lie outside at each end, of twenty five, of
 * a hundred thirty-nine. */
static void bounds_are_those_of_the_sign_test(void) {
  check_bounds(6, 1, 6);
  check_bounds(8, 1, 8);
  check_bounds(9, 2, 8);
  check_bounds(12, 3, 10);
  check_bounds(20, 6, 15);
  check_bounds(100, 40, 61);
  check_bounds(1000, 469, 532);
}

static void few_pairs_tell_nothing(void) {
  CHECK(of(5, 10).told == RELOCK_BENCH_TOO_FEW && is_near(of(5, 10).low, 10));
  CHECK(of(1, 10).told == RELOCK_BENCH_TOO_FEW && is_near(of(1, 10).median, 10));
  CHECK(of(0, 10).told == RELOCK_BENCH_TOO_FEW && of(0, 10).pairs == 0);
}

static void told_apart_if_one_lies_outside(void) {
  CHECK(of(9, 0.51).told == RELOCK_BENCH_FASTER);
  CHECK(of(9, 0.5).told == RELOCK_BENCH_ALIKE); /* 2 of 1 to 9 is the bound */
  CHECK(of(9, 1 / 8.0).told == RELOCK_BENCH_ALIKE);
  CHECK(of(9, 1 / 8.1).told == RELOCK_BENCH_SLOWER);
  CHECK(of(6, 1.01).told == RELOCK_BENCH_FASTER);
}

static bool comparable(double a, double b, double c, double d) {
  return relock_bench_comparable((double[]){a, b}, (double[]){c, d});
}

static void pairs_of_the_same_distance(void) {
  CHECK(comparable(50, 55, 60, 74));
  CHECK(!comparable(50, 55, 60, 76));
  CHECK(!comparable(90, 50, 90, 90)); /* it was moved meanwhile */
  CHECK(comparable(0, 0, 0, 0) && comparable(0, 50, 0, 0));
}

int main(void) {
  bounds_are_those_of_the_sign_test();
  few_pairs_tell_nothing();
  told_apart_if_one_lies_outside();
  pairs_of_the_same_distance();
  puts("ratios: ok");
  return 0;
}
