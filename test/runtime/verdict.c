/* SPDX-License-Identifier: MIT
 *
 * What `relock-bench --calibrate` concludes from given repetitions (runtime/bench/verdict.c).
 */
#include "../../runtime/bench/verdict.h"

#include "../../runtime/bench/bench.h"
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *check_case = "verdict";

enum { REPETITIONS = 9, LOADS = 2 };

/* In the place of the benchmark's. */
void fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  exit(status);
}

/* A million sections per second under the first load, a thousand under the second one, in
 * repetitions that differ among themselves by much more than the factors of the two loads. */
static void fill(struct trial *trials, double first, double second) {
  for (int i = 0; i < REPETITIONS; i++) {
    const double mood = 1 + 0.3 * (i % 3);
    trials[i * LOADS] = (struct trial){1e6 * mood * first, 1e6 * (i + 1)};
    trials[i * LOADS + 1] = (struct trial){1e3 * mood * second, 5e5};
  }
}

static struct verdict of(double first, double second) {
  struct trial tried[REPETITIONS * LOADS], against[REPETITIONS * LOADS];
  fill(tried, first, second);
  fill(against, 1, 1);
  return judge(tried, against, REPETITIONS, LOADS);
}

static bool is_near(double value, double expected) { return fabs(value - expected) < 1e-9; }

static void loads_count_alike(void) {
  struct verdict verdict = of(1.21, 1);
  CHECK(is_near(verdict.gain.median, 0.1));
  CHECK(is_near(verdict.gain.least, 0.1) && is_near(verdict.gain.most, 0.1));
  CHECK(verdict.ahead && verdict.harmed < 0);
}

static void gain_at_the_cost_of_a_load(void) {
  struct verdict verdict = of(1.5, 0.9);
  CHECK(verdict.ahead && verdict.harmed == 1);
}

static void gain_that_is_not_worth_it(void) {
  struct verdict verdict = of(1.001, 1.001);
  CHECK(!verdict.ahead && verdict.harmed < 0);
  verdict = of(1.1, 0.999);
  CHECK(verdict.ahead && verdict.harmed < 0);
}

static void behind_at_times(void) {
  struct trial tried[REPETITIONS * LOADS], against[REPETITIONS * LOADS];
  fill(tried, 1.2, 1.2);
  fill(against, 1, 1);
  CHECK(judge(tried, against, REPETITIONS, LOADS).ahead);
  tried[4 * LOADS].rate /= 2;
  struct verdict verdict = judge(tried, against, REPETITIONS, LOADS);
  CHECK(verdict.ahead && verdict.ahead_in == 8 && verdict.harmed < 0);
  CHECK(verdict.gain.least < 0 && is_near(verdict.gain.median, 0.2));
  tried[6 * LOADS].rate /= 2;
  verdict = judge(tried, against, REPETITIONS, LOADS);
  CHECK(!verdict.ahead && verdict.ahead_in == 7 && verdict.harmed < 0);
}

static void too_few_repetitions(void) {
  struct trial tried[REPETITIONS * LOADS], against[REPETITIONS * LOADS];
  fill(tried, 2, 0.5);
  fill(against, 1, 1);
  struct verdict verdict = judge(tried, against, LEAST_REPETITIONS - 1, LOADS);
  CHECK(!verdict.ahead && verdict.harmed < 0);
}

static void longest_waits(void) {
  struct verdict verdict = of(1, 1);
  CHECK(is_near(verdict.worst.median, 5e6));
  CHECK(is_near(verdict.worst.least, 1e6) && is_near(verdict.worst.most, 9e6));
  double even[] = {4, 1, 3, 2};
  CHECK(is_near(spread_of(even, 4).median, 2.5));
}

int main(void) {
  loads_count_alike();
  gain_at_the_cost_of_a_load();
  gain_that_is_not_worth_it();
  behind_at_times();
  too_few_repetitions();
  longest_waits();
  puts("verdicts: ok");
  return 0;
}
