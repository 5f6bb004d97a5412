/* SPDX-License-Identifier: MIT
 *
 * Whether the figures predict something that they were not measured by: a barrier, one thread that
 * tells all others, all others that tell one, with a thread on each core. The intervals are those
 * of S. Ramos, T. Hoefler, "Cache Line Aware Algorithm Design for Cache-Coherent Architectures"
 * (2016), tables 5 and 6, equations 27 and 28, for flags that are in caches when they are used
 * again. With T a transfer between the nearest cores, T' between the farthest, O to own a line that
 * others share, H a handover while all add to one line, C to read the counter twice, n others:
 *
 *                 least            most
 *   barrier       r T              2 r (O + 2 T')    in r rounds, the logarithm of all
 *   one-to-many   T                O + 2 n T' + C    a line that all others poll
 *   many-to-one   n min(H, T)      O + 2 n T' + T' + C
 *
 * each wider by the spread of its transfers. Who polls takes a line from who writes it: hence 2 T'.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../../base/arch.h"
#include "../bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIES = 21, LEAST_TRIES = 3, MS = 20 };

static struct check {
  enum figure_id id;
  double least, most; /* predicted, in ns */
} checks[] = {{CHECK_BARRIER, 0, 0}, {CHECK_ONE_TO_MANY, 0, 0}, {CHECK_MANY_TO_ONE, 0, 0}};
enum { BARRIER, ONE_TO_MANY, MANY_TO_ONE, CHECKS };

static const char *not_made; /* why */

/* --- predictions ----------------------------------------------------------------------------- */

static int rounds_of(int count) {
  int rounds = 0;
  while (1 << rounds < count)
    rounds++;
  return rounds;
}

static void expect(int check, double least, double most) {
  checks[check].least = least;
  checks[check].most = most;
}

static void read_counter(void) { relock_ticks(); }

static bool are_measured(void) {
  for (int i = 0; i < CHECKS; i++)
    if (figure_value(checks[i].id) < 0)
      return false;
  return true;
}

void judge_checks(void) {
  struct summary near, far;
  if (core_count < 2)
    not_made = "there is one core";
  else if (!transfers(&near, &far) || figure_value(STORE_OWN_SHARED) < 0)
    not_made = "the figures that they need are too noisy";
  else if (!are_measured())
    not_made = "these are too noisy";
  if (not_made)
    return;
  const double clock = figure_value(CLOCK) / 1000, others = core_count - 1;
  const double least = near.median * (1 - near.spread) / clock,
               most = far.median * (1 + far.spread) / clock,
               own = figure_value(STORE_OWN_SHARED) / clock,
               handover = figure_value(HANDOVER) / clock,
               counter = 2 * repeat_ns(read_counter, 100);
  const double rounds = rounds_of(core_count);
  expect(BARRIER, rounds * least, 2 * rounds * (own + 2 * most));
  expect(ONE_TO_MANY, least, own + 2 * others * most + counter);
  expect(MANY_TO_ONE, others * (handover >= 0 && handover < least ? handover : least),
         own + (2 * others + 1) * most + counter);
}

/* --- a dissemination barrier ----------------------------------------------------------------- */

enum { BATCH = 16, MOST_ROUNDS_OF_BARRIER = 11 };
static struct flag {
  _Alignas(LINE) uint32_t epoch;
} *flags; /* of each thread one for each round */
static _Alignas(LINE) uint32_t last_epoch;
static double times[TRIES];
static int tries;

static void pass_barrier(int me, int rounds, uint32_t epoch) {
  for (int round = 0; round < rounds; round++) {
    const int before = (me - (1 << round) + core_count) % core_count;
    __atomic_store_n(&flags[me * rounds + round].epoch, epoch, __ATOMIC_RELEASE);
    while (__atomic_load_n(&flags[before * rounds + round].epoch, __ATOMIC_ACQUIRE) < epoch)
      continue;
  }
}

/* The first one takes the time of batches, and says before a barrier that it is the last one:
 * whoever leaves that has heard it. */
static void pass_barriers(struct member *member) {
  const int rounds = rounds_of(core_count);
  const uint64_t limit = now_ns() + MS * 1000000u;
  uint64_t start = relock_ticks();
  for (uint32_t epoch = 1;; epoch++) {
    if (member->index == 0 && epoch % BATCH == 1 && epoch > 1) {
      const uint64_t now = relock_ticks();
      times[tries++] = ns_of((double)(now - start)) / BATCH;
      if (tries == TRIES || (tries >= LEAST_TRIES && now_ns() > limit))
        __atomic_store_n(&last_epoch, epoch, __ATOMIC_RELAXED);
      start = relock_ticks();
    }
    pass_barrier(member->index, rounds, epoch);
    if (__atomic_load_n(&last_epoch, __ATOMIC_RELAXED) == epoch)
      return;
  }
}

/* --- one and many ---------------------------------------------------------------------------- */

static struct flag start_flag, told, *heard; /* heard: of each thread */
static _Alignas(LINE) uint64_t start_at;     /* of the counter: all begin together */
static _Alignas(LINE) uint32_t arrived;
static struct stamp {
  _Alignas(LINE) uint64_t at;
} *stamps;
static bool many_tell;
static int party; /* how many take part */

static void wait_for(const struct flag *flag, uint32_t epoch) {
  while (__atomic_load_n(&flag->epoch, __ATOMIC_ACQUIRE) < epoch)
    continue;
}

static uint64_t wait_until(uint64_t at) {
  uint64_t now;
  while ((now = relock_ticks()) < at)
    continue;
  return now;
}

static void be_one_of_many(struct member *member, uint32_t epoch) {
  wait_for(&start_flag, epoch);
  if (many_tell) {
    wait_until(start_at);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE);
    return;
  }
  wait_for(&told, epoch);
  stamps[member->index].at = relock_ticks();
  __atomic_store_n(&heard[member->index].epoch, epoch, __ATOMIC_RELEASE);
}

/* Until the last of them has heard it, in ticks. */
static double tell_many(uint32_t epoch, uint64_t begin) {
  const uint64_t told_at = wait_until(begin);
  double longest = 0;
  __atomic_store_n(&told.epoch, epoch, __ATOMIC_RELEASE);
  for (int i = 1; i < party; i++) {
    wait_for(&heard[i], epoch);
    const double taken = (double)(int64_t)(stamps[i].at - told_at);
    longest = taken > longest ? taken : longest;
  }
  return longest;
}

static double hear_many(uint32_t epoch, uint64_t begin) {
  const uint32_t all = epoch * (uint32_t)(party - 1);
  while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) != all)
    continue;
  return (double)(int64_t)(relock_ticks() - begin);
}

static void be_the_one(uint32_t epoch) {
  enum { LEAD_US = 10 };
  const uint64_t begin = relock_ticks() + (uint64_t)(ticks_per_second() * LEAD_US * 1e-6);
  start_at = begin;
  __atomic_store_n(&start_flag.epoch, epoch, __ATOMIC_RELEASE);
  times[tries++] = ns_of(many_tell ? hear_many(epoch, begin) : tell_many(epoch, begin));
}

static void tell_and_hear(struct member *member) {
  for (uint32_t epoch = 1; epoch <= TRIES; epoch++)
    if (member->index == 0)
      be_the_one(epoch);
    else
      be_one_of_many(member, epoch);
}

static double run_with(int count, void (*run)(struct member *)) {
  tries = 0;
  party = count;
  end_crowd(start_crowd(cores, count, run), 0);
  return median(times, tries);
}

static double run_telling(bool many, int count) {
  many_tell = many;
  start_flag.epoch = told.epoch = arrived = 0;
  for (int i = 0; i < core_count; i++)
    heard[i].epoch = 0;
  return run_with(count, tell_and_hear);
}

/* How the time grows with those who read the line; with all of them it is a check. */
static struct figure told_curve[MOST_OF_CURVE];
static int told_sizes;

void start_checks(void) {
  if (core_count > 1)
    told_sizes = start_curve(told_curve, core_count - 1, "told",
                             "cores read a line that another one writes, until the last has it");
}

static void measure_telling(void) {
  double ns = 0;
  for (int i = 0; i < told_sizes; i++) {
    ns = run_telling(false, told_curve[i].index + 1);
    note_in(&told_curve[i], ns * round_clock);
  }
  note(CHECK_ONE_TO_MANY, ns);
}

void print_telling(void) {
  for (int i = 0; i < told_sizes; i++)
    print_figure(&told_curve[i]);
  print_fit("told", told_curve, told_sizes);
}

void measure_checks(void) {
  if (core_count < 2 || round_is_over())
    return;
  flags = allocate_lines((size_t)core_count * MOST_ROUNDS_OF_BARRIER * sizeof *flags);
  heard = allocate_lines((size_t)core_count * sizeof *heard);
  stamps = allocate_lines((size_t)core_count * sizeof *stamps);
  last_epoch = 0;
  note(CHECK_BARRIER, run_with(core_count, pass_barriers));
  measure_telling();
  note(CHECK_MANY_TO_ONE, run_telling(true, core_count));
  free(flags);
  free(heard);
  free(stamps);
}

/* --- what came of it ------------------------------------------------------------------------- */

static bool holds(const struct check *check) {
  const double measured = figure_value(check->id);
  return measured >= check->least && measured <= check->most;
}

void print_failures(void) {
  if (not_made)
    printf("# The figures were not checked against a barrier, one-to-many and many-to-one: %s.\n",
           not_made);
  for (int i = 0; !not_made && i < CHECKS; i++)
    if (!holds(&checks[i]))
      printf("# The %s has failed: these figures do not predict it.\n", figures[checks[i].id].name);
}

void print_checks(void) {
  if (not_made)
    return;
  printf("\n# Checks, with a thread on each of %d cores: what these figures predict of them.\n",
         core_count);
  for (int i = 0; i < CHECKS; i++) {
    const struct figure *figure = &figures[checks[i].id];
    const struct summary summary = summary_of(figure);
    print_line(figure->name, summary.median, "ns",
               "%s: predicted %.0f to %.0f ns; measured: median of %d, spread %.0f %%; %s",
               holds(&checks[i]) ? "holds" : "fails", checks[i].least, checks[i].most,
               summary.count, 100 * summary.spread, figure->how);
  }
}
