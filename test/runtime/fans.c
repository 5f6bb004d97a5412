/* SPDX-License-Identifier: MIT
 *
 * bench/fans.c against what Ramos and Hoefler's formulas give with the costs that their paper has
 * measured (tables 1 and 2, in ns).
 */
#include "../../runtime/bench/fans.h"
#include "check.h"

#include <math.h>

const char *check_case;

static const struct relock_bench_lines sandy_bridge = {.own = 2.3, .other = 35, .memory = 70};
static const struct relock_bench_lines phi = {
    .own = 8.6, .other = 235.8, .memory = 277.7, .together = 320.5, .each = 56.2};

static void expect(const char *name, enum relock_bench_level level,
                   const struct relock_bench_lines *lines, int others, int below, double time) {
  int found;
  check_case = name;
  const double least = relock_bench_tree(level, lines, others, &found);
  if (found != below || fabs(least - time) > 0.1)
    printf("fans: %s: %d below, %.1f\n", name, found, least);
  CHECK_EQUAL(found, below);
  CHECK(fabs(least - time) <= 0.1);
}

/* Lines cost the same, from wherever they come, and however many read one. */
static void same_fan_on_all_levels(void) {
  static const struct relock_bench_lines same = {.other = 1, .memory = 1, .together = 1};
  check_case = "same_fan_on_all_levels";
  CHECK_EQUAL(relock_bench_fan(RELOCK_BENCH_BROADCAST, &same, 1), 1);
  CHECK_EQUAL(relock_bench_fan(RELOCK_BENCH_BROADCAST, &same, 3), 3);
  CHECK_EQUAL(relock_bench_fan(RELOCK_BENCH_BROADCAST, &same, 15), 4);
  CHECK_EQUAL(relock_bench_fan(RELOCK_BENCH_BROADCAST, &same, 63), 4);
  CHECK_EQUAL(relock_bench_fan(RELOCK_BENCH_TELL, &same, 63), 63);
}

int main(void) {
  expect("reduction of 8", RELOCK_BENCH_REDUCE, &sandy_bridge, 7, 7, 634.6);
  expect("reduction of 16", RELOCK_BENCH_REDUCE, &sandy_bridge, 15, 3, 779.2);
  expect("many to one of 60", RELOCK_BENCH_GATHER, &phi, 59, 4, 3426.9);
  expect("one to many of 60", RELOCK_BENCH_TELL, &phi, 59, 5, 1899.4);
  check_case = "flat";
  CHECK(fabs(relock_bench_level(RELOCK_BENCH_REDUCE, &sandy_bridge, 15) - 1194.6) < 0.1);
  CHECK(fabs(relock_bench_level(RELOCK_BENCH_GATHER, &phi, 59) - 14189.9) < 0.1);
  same_fan_on_all_levels();
  puts("fans: ok");
  return 0;
}
