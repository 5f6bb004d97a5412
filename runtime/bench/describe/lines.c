/* SPDX-License-Identifier: MIT
 *
 * What cache lines cost: to read, to own and to change, by where they are and in which state; of
 * many threads that add to one; of several lines at once. The states are made as in S. Ramos, T.
 * Hoefler, "Cache Line Aware Algorithm Design for Cache-Coherent Architectures" (2016): who has
 * written last, and who has read since.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../../base/arch.h"
#include "../bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINES = 128, TRIES = 11 };

struct link {
  _Alignas(LINE) struct link *next;
  uint64_t value;
};
static struct link links[LINES];
static struct link *order[LINES]; /* the same lines in the same order, without reading them */
static _Alignas(LINE) uint64_t word;

/* The lines in an order that no prefetcher guesses, the same in each run. */
static void link_lines(struct link *first, size_t count) {
  size_t *at = malloc(count * sizeof *at);
  if (!at)
    fail(2, "no memory");
  uint64_t random = 1;
  for (size_t i = 0; i < count; i++)
    at[i] = i;
  for (size_t i = count - 1; i > 0; i--) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const size_t other = (random >> 33) % (i + 1), kept = at[i];
    at[i] = at[other];
    at[other] = kept;
  }
  for (size_t i = 0; i < count; i++)
    first[at[i]].next = &first[at[(i + 1) % count]];
  free(at);
}

/* --- what is done to all lines --------------------------------------------------------------- */

static void write_lines(void) {
  for (int i = 0; i < LINES; i++)
    links[i].value++;
}

static void read_lines(void) {
  const struct link *at = links;
  for (int i = 0; i < LINES; i++)
    at = at->next;
  __asm__ __volatile__("" : : "r"(at) : "memory");
}

static void change_lines(void) {
  struct link *at = links;
  for (int i = 0; i < LINES; i++)
    at = (struct link *)__atomic_fetch_add((uintptr_t *)&at->next, 0, __ATOMIC_SEQ_CST);
  __asm__ __volatile__("" : : "r"(at) : "memory");
}

/* Waits for all stores, and begins nothing behind it before: processors ask early for the lines of
 * stores to come. */
static void wait_for_stores(void) {
#if defined(__x86_64__)
  __asm__ __volatile__("mfence\n\tlfence" : : : "memory");
#else
  __asm__ __volatile__("dsb ish\n\tisb" : : : "memory");
#endif
}

static void store_lines(void) {
  for (int i = 0; i < LINES; i++) {
    __atomic_store_n(&order[i]->value, 1, __ATOMIC_RELAXED);
    wait_for_stores();
  }
}

/* Out of all caches. */
static void flush_lines(void) {
  for (int i = 0; i < LINES; i++)
#if defined(__x86_64__)
    __builtin_ia32_clflush(&links[i]);
#else
    __asm__ __volatile__("dc civac, %0" : : "r"(&links[i]) : "memory");
#endif
  wait_for_stores();
}

/* --- a line in a state ----------------------------------------------------------------------- */

/* The cores that take part: this one, another one and, where there is one, a third. */
static struct helper *others[2];

enum who { NOBODY, ME, OTHER, THIRD };
struct step {
  enum who who;
  void (*run)(void);
};

static void take_step(const struct step *step) {
  if (step->who == ME)
    step->run();
  else if (step->who != NOBODY)
    ask_helper(others[step->who - OTHER], step->run);
}

/* What one line takes in `timed`, after these steps. */
static double per_line_ns(const struct step *steps, int count, void (*timed)(void)) {
  double taken[TRIES];
  const uint64_t begin = now_ns();
  int tries = 0;
  while (tries < TRIES && !is_enough(tries, begin)) {
    for (int step = 0; step < count; step++)
      take_step(&steps[step]);
    wait_for_stores();
    const uint64_t start = relock_ticks();
    timed();
    taken[tries++] = ns_of((double)(relock_ticks() - start)) / LINES;
  }
  return median(taken, tries);
}

enum { STEPS = 3 };
static const struct state {
  struct step steps[STEPS];
  enum figure_id read, store, atomic;
} states[] = {
    {{{ME, write_lines}}, READ_OWN_MODIFIED, STORE_OWN_MODIFIED, ATOMIC_OWN_MODIFIED},
    {{{ME, flush_lines}, {ME, read_lines}},
     READ_OWN_EXCLUSIVE,
     STORE_OWN_EXCLUSIVE,
     ATOMIC_OWN_EXCLUSIVE},
    {{{ME, write_lines}, {OTHER, read_lines}, {ME, read_lines}},
     READ_OWN_SHARED,
     STORE_OWN_SHARED,
     ATOMIC_OWN_SHARED},
    {{{OTHER, write_lines}}, READ_OTHER_MODIFIED, STORE_OTHER_MODIFIED, ATOMIC_OTHER_MODIFIED},
    {{{ME, flush_lines}, {OTHER, read_lines}},
     READ_OTHER_EXCLUSIVE,
     STORE_OTHER_EXCLUSIVE,
     ATOMIC_OTHER_EXCLUSIVE},
    {{{ME, flush_lines}, {OTHER, read_lines}, {THIRD, read_lines}},
     READ_OTHER_SHARED,
     STORE_OTHER_SHARED,
     ATOMIC_OTHER_SHARED},
};

static bool can_be_made(const struct state *state) {
  for (int i = 0; i < STEPS; i++)
    if (state->steps[i].who >= OTHER && !others[state->steps[i].who - OTHER])
      return false;
  return true;
}

static void measure_states(void) {
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    const struct state *state = &states[i];
    if (!can_be_made(state) || round_is_over())
      continue;
    note_cycles(state->read, per_line_ns(state->steps, STEPS, read_lines));
    note_cycles(state->store, per_line_ns(state->steps, STEPS, store_lines));
    note_cycles(state->atomic, per_line_ns(state->steps, STEPS, change_lines));
  }
}

double transfer_ns(int cpu, int other) {
  static const struct step steps[] = {{OTHER, write_lines}};
  pin(cpu);
  others[0] = start_helper(other);
  const double taken = per_line_ns(steps, 1, read_lines);
  end_helper(others[0]);
  others[0] = NULL;
  return taken;
}

/* What each further copy adds to a store: between one and many. */
static void measure_copies(void) {
  enum { MOST = 8 };
  struct helper *helpers[MOST];
  double taken[MOST][TRIES];
  const int count = core_count - 1 < MOST ? core_count - 1 : MOST;
  if (count < 2 || round_is_over())
    return;
  for (int i = 0; i < count; i++)
    helpers[i] = start_helper(cores[i + 1]->number);
  const uint64_t begin = now_ns();
  int tries = 0;
  for (; tries < TRIES && !is_enough(tries, begin); tries++)
    for (int copies = 1; copies <= count; copies += count - 1) {
      write_lines();
      for (int i = 0; i < copies; i++)
        ask_helper(helpers[i], read_lines);
      wait_for_stores();
      const uint64_t start = relock_ticks();
      store_lines();
      taken[copies - 1][tries] = ns_of((double)(relock_ticks() - start)) / LINES;
    }
  for (int i = 0; i < count; i++)
    end_helper(helpers[i]);
  note_cycles(INVALIDATE,
              (median(taken[count - 1], tries) - median(taken[0], tries)) / (count - 1));
}

/* --- several lines at once ------------------------------------------------------------------- */

enum { SIZES = 5, MOST_LINES = 1 << (SIZES - 1) };
static struct figure independent[SIZES], dependent[SIZES];

static void read_independent(int first, int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; i++)
    sum += __atomic_load_n(&order[first + i]->value, __ATOMIC_RELAXED);
  __asm__ __volatile__("" : : "r"(sum) : "memory");
}

static void read_dependent(int first, int count) {
  const struct link *at = order[first];
  for (int i = 0; i < count; i++)
    at = __atomic_load_n(&at->next, __ATOMIC_RELAXED);
  __asm__ __volatile__("" : : "r"(at) : "memory");
}

/* Of `count` lines that another core has written to, without what it takes to read the counter. */
static double several_ns(void (*read)(int, int), int count) {
  double taken[TRIES], empty[TRIES];
  const uint64_t begin = now_ns();
  int tries = 0;
  for (; tries < TRIES && !is_enough(tries, begin); tries++) {
    const int first = tries * MOST_LINES % (LINES - MOST_LINES);
    ask_helper(others[0], write_lines);
    wait_for_stores();
    uint64_t start = relock_ticks();
    read(first, count);
    taken[tries] = ns_of((double)(relock_ticks() - start));
    start = relock_ticks();
    empty[tries] = ns_of((double)(relock_ticks() - start));
  }
  const double all = median(taken, tries) - median(empty, tries);
  return all > 0 ? all : 0;
}

static void measure_several(void) {
  for (int i = 0; i < SIZES && !round_is_over(); i++) {
    note_in(&independent[i], several_ns(read_independent, 1 << i) * round_clock);
    note_in(&dependent[i], several_ns(read_dependent, 1 << i) * round_clock);
  }
}

/* --- many threads and one line --------------------------------------------------------------- */

enum { CROWD_MS = 5, CROWD_TRIES = 4 };
static struct figure adds[MOST_OF_CURVE];
static int crowds;

/* Where a core has the line for several additions in a row, that is one handover. */
static void add_to_word(struct member *member) {
  uint64_t own = 0;
  for (; crowd_goes_on(); member->done++) {
    const uint64_t before = __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
    member->moved += before != own;
    own = before + 1;
  }
}

static void spend(struct member *member) {
  enum { CYCLES = 1000 };
  for (; crowd_goes_on(); member->done++)
    spend_cycles(CYCLES);
}

/* On a busy machine a short time is more often undisturbed than a long one. */
static struct rates crowd_rates(const struct processor *const *on, int count,
                                void (*run)(struct member *)) {
  struct rates rates = {0, 0};
  for (int i = 0; i < CROWD_TRIES && rates.done <= 0 && !round_is_over(); i++)
    rates = end_crowd(start_crowd(on, count, run), CROWD_MS);
  return rates;
}

static void measure_adding(void) {
  for (int i = 0; i < crowds && !round_is_over(); i++) {
    const struct rates rates = crowd_rates(cores, adds[i].index, add_to_word);
    if (rates.done > 0)
      note_in(&adds[i], round_clock / rates.done);
    if (rates.moved > 0 && i > 0 && i == crowds - 1)
      note(HANDOVER, round_clock / rates.moved);
  }
}

static void measure_siblings(void) {
  const struct processor *both[] = {&processors[0], sibling()};
  if (!both[1] || round_is_over())
    return;
  const double one = crowd_rates(both, 1, spend).done, two = crowd_rates(both, 2, spend).done;
  if (one > 0 && two > 0)
    note(THROUGHPUT, 100 * (two > one ? two / one : 1));
}

/* --- memory ---------------------------------------------------------------------------------- */

static const struct link *far_away; /* the next of many that no cache holds */

static void start_memory(void) {
  enum { COUNT = 1 << 21 }; /* 256 MiB */
  struct link *all = aligned_alloc(1 << 21, COUNT * sizeof *all);
  if (!all)
    fail(2, "no memory");
  madvise(all, COUNT * sizeof *all, MADV_HUGEPAGE); /* lines are looked for, not translations */
  link_lines(all, COUNT);
  far_away = all;
}

static void measure_memory(void) {
  enum { BATCHES = 50, LOADS = 1000 };
  double taken[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    const uint64_t start = relock_ticks();
    for (int j = 0; j < LOADS; j++)
      far_away = far_away->next;
    __asm__ __volatile__("" : : "r"(far_away) : "memory");
    taken[i] = ns_of((double)(relock_ticks() - start)) / LOADS;
  }
  note_cycles(MEMORY, median(taken, BATCHES));
}

/* --- all of it ------------------------------------------------------------------------------- */

void start_lines(void) {
  link_lines(links, LINES);
  order[0] = links;
  for (int i = 1; i < LINES; i++)
    order[i] = order[i - 1]->next;
  for (int i = 0; i < SIZES; i++) {
    start_figure(&independent[i], "independent lines", 1 << i, "from another core, all together");
    start_figure(&dependent[i], "dependent lines", 1 << i, "each needs the one before");
  }
  crowds = start_curve(adds, core_count, "adds", "threads add to a line; what one addition takes");
  start_memory();
}

static void measure_own_cache(void) {
  enum { RUNS = 10 };
  write_lines();
  const double hit = repeat_ns(read_lines, RUNS) / LINES;
  note_cycles(HIT, hit);
  note_cycles(ATOMIC, repeat_ns(change_lines, RUNS) / LINES - hit);
}

void measure_lines(void) {
  pin(processors[0].number);
  measure_memory();
  measure_own_cache();
  for (int i = 0; i < 2 && i + 1 < core_count; i++)
    others[i] = start_helper(cores[i + 1]->number);
  measure_states();
  if (others[0])
    measure_several();
  for (int i = 0; i < 2; i++) {
    if (others[i])
      end_helper(others[i]);
    others[i] = NULL;
  }
  measure_copies();
  measure_adding();
  measure_siblings();
}

static double least_of(double one, double other) { return one < other ? one : other; }

void print_line_costs(void) {
  printf("\n# By state and place. A store is measured with a fence that waits for it.\n");
  for (int id = READ_OWN_MODIFIED; id <= ATOMIC_OTHER_SHARED; id++)
    print_figure(&figures[id]);
  printf(
      "\n# Curves: threads that add to one line, and several lines that come from another core.\n");
  for (int i = 0; i < crowds; i++)
    print_figure(&adds[i]);
  print_fit("adds", adds, crowds);
  print_figure(&figures[HANDOVER]);
  for (int i = 0; i < SIZES; i++)
    print_figure(&independent[i]);
  print_fit("independent lines", independent, SIZES);
  for (int i = 0; i < SIZES; i++)
    print_figure(&dependent[i]);
  print_fit("dependent lines", dependent, SIZES);
}

/* Of a transfer's time the part after which the next one can begin. */
void print_occupancy(const struct summary *farthest) {
  const struct figure figure = {.name = "write occupancy",
                                .unit = "%",
                                .index = -1,
                                .least = 1,
                                .most = 100,
                                .standard = 80,
                                .how = "'handover', of the farthest transfer"};
  struct summary part = summary_of(&figures[HANDOVER]);
  if (part.count && farthest->median <= 0) {
    print_line(figure.name, figure.standard, figure.unit,
               "default: the transfer that it is a part of is too noisy");
    return;
  }
  if (part.count)
    part.median = least_of(100, 100 * part.median / farthest->median);
  print_summary(&figure, &part);
}
