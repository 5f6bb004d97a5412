/* SPDX-License-Identifier: MIT
 *
 * --describe: this machine as a file for `relock simulate`, whose parameters runtime/sim/README.md
 * explains. What can be measured without privileges is measured, in rounds (figures.c); the rest is
 * a guess or a default, and says so.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../bench.h"

#include <stdio.h>

static void measure_round(void) {
  measure_lines();
  measure_system();
  measure_checks();
}

/* For relock calibrate, which shows it. */
static void show_progress(int round, uint64_t start, int seconds) {
  printf("#: %d of %d rounds, %.0f of at most %d s\n", round, MOST_ROUNDS,
         (double)(now_ns() - start) / 1e9, seconds);
  fflush(stdout);
}

/* A few rounds more than there is time for, if they do not take too long. */
static bool has_time(int round, uint64_t start, uint64_t end) {
  const uint64_t now = now_ns();
  return now < end || round == 0 || (round < LEAST_ROUNDS && now < end + (end - start));
}

/* Pairs have as much time as the round before them: on a large machine they are what takes long. */
static void measure_rounds(int seconds, bool progress) {
  const uint64_t start = now_ns(), end = start + (uint64_t)seconds * 1000000000u;
  for (int round = 0; has_time(round, start, end); round++) {
    const bool goes_on = round < MOST_ROUNDS;
    if (!goes_on && has_all_pairs())
      return;
    const uint64_t begin = now_ns();
    start_round();
    if (goes_on)
      measure_round();
    const uint64_t taken = now_ns() - begin;
    measure_pairs(now_ns() + (goes_on ? taken : 100000000u));
    if (progress)
      show_progress(goes_on ? round + 1 : MOST_ROUNDS, start, seconds);
  }
}

static void print_guesses(void) {
  print_line("read occupancy", 20, "%", "guess, as for magnycours-48");
  print_line("home", 9, "cycles", "guess: a directory looks up a line every 3 ns");
  print_yes_no("owner keeps", is_amd(),
               is_amd() ? "guess: AMD, MOESI" : "guess: MESIF or the like");
#if defined(__x86_64__)
  print_yes_no("total store order", true, "x86");
#else
  print_yes_no("total store order", false, "AArch64");
#endif
  print_line("store buffer", 64, "", "guess");
  print_line("instruction", 1, "cycles", "guess: four instructions per cycle, four per access");
  print_line("turn", 1, "cycles", "guess: one round of an empty loop per cycle");
}

static void print_model(void) {
  struct summary nearest, farthest;
  printf("\n");
  print_transfers();
  print_figure(&figures[HIT]);
  if (figures[INVALIDATE].count)
    print_figure(&figures[INVALIDATE]);
  else
    print_line("invalidate", 0, "cycles", "guess: all copies are told at once");
  if (!transfers(&nearest, &farthest))
    farthest = (struct summary){0};
  print_occupancy(&farthest);
  print_guesses();
  print_figure(&figures[ATOMIC]);
  print_figure(&figures[PAUSE]);
  if (sibling())
    print_figure(&figures[THROUGHPUT]);
  else
    print_line("throughput", 100, "%", "one thread per core");
}

void describe_machine(const struct description *wanted) {
  find_processors();
  ticks_per_second();
  start_lines();
  start_pairs();
  start_checks();
  measure_rounds(wanted->seconds, wanted->progress);
  judge_pairs();
  judge_checks();

  printf(
      "# This machine, as relock calibrate found it: runtime/sim/README.md explains each line.\n");
  print_failures();
  print_topology(wanted->name);
  print_hops();
  print_figure(&figures[CLOCK]);
  print_model();
  print_system();
  printf("\n# From here on for people: nothing below is part of the simulation.\n");
  print_environment();
  print_line_costs();
  print_telling();
  print_pairs();
  print_checks();
}
