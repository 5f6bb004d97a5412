/* SPDX-License-Identifier: MIT
 *
 * What the parts of --describe share: the machine's processors, figures that are measured in
 * rounds, and threads on other processors.
 */
#ifndef RELOCK_BENCH_DESCRIBE_H
#define RELOCK_BENCH_DESCRIBE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 128: some processors fetch lines in pairs. */
enum { LINE = 128 };

/* --- which processors there are (topology.c) ------------------------------------------------- */

struct processor {
  int number;               /* the kernel's */
  int package, core, cache; /* core, cache: the first processor that has the same (last) one */
  int node;                 /* its cache's, from 0 */
};
extern struct processor processors[CPU_SETSIZE];
extern int processor_count, node_count, core_count;
extern const struct processor *cores[CPU_SETSIZE]; /* the first processor of each */

void find_processors(void);
/* Hops between two processors as /sys has it: 0 with the same last cache, 1 in a package that has
 * several, and one more to another package. */
int hops_by_packages(const struct processor *one, const struct processor *other);
/* Another processor of the first one's core; null: it has but one. */
const struct processor *sibling(void);
bool is_amd(void);
void print_topology(const char *name);
void print_environment(void);

/* --- figures (figures.c) --------------------------------------------------------------------- */

enum { MOST_ROUNDS = 31, LEAST_ROUNDS = 3 };

enum figure_id {
#define FIGURE(id, name, unit, least, most, standard, how) id,
#include "figures.def"
  FIGURES
};

struct summary {
  int count;
  double median, spread; /* from quartile to quartile, as a part of the median */
};

struct figure {
  const char *name, *unit;
  int index; /* behind the name; below 0: none */
  double least, most;
  double standard; /* what is shipped for machines where it cannot be measured; below 0: nothing */
  const char *how;
  int count;
  double values[MOST_ROUNDS];
};
extern struct figure figures[FIGURES];

/* Measures the clock, by which the round's other figures become cycles. */
void start_round(void);
extern double round_clock; /* cycles in a nanosecond */
/* A round takes a part of a second, but seconds where other programs have the processors. Then what
 * is left of it is left out. */
bool round_is_over(void);

/* Add this round's value. */
void note(enum figure_id id, double value);
void note_cycles(enum figure_id id, double ns);
void note_in(struct figure *figure, double value);

/* Sorts them. */
struct summary summarize(double *values, int count);
struct summary summary_of(const struct figure *figure);
bool is_usable(const struct summary *summary);
/* The median, or what is shipped. */
double figure_value(enum figure_id id);

enum { MOST_OF_CURVE = 12 };
/* One with a number behind its name, in cycles. */
void start_figure(struct figure *figure, const char *name, int index, const char *how);
/* Those for 1, 2, 4, ... and the last number. Returns how many. */
int start_curve(struct figure *curve, int last, const char *name, const char *how);

void print_figure(const struct figure *figure);
/* The same for one that is summed up elsewhere. */
void print_summary(const struct figure *figure, const struct summary *summary);
/* A figure from another one: a guess, what the system says, a calculation. */
__attribute__((format(printf, 4, 5))) void print_line(const char *name, double value,
                                                      const char *unit, const char *source, ...);
void print_yes_no(const char *name, bool value, const char *source);
/* What a straight line through the medians of a curve's figures has: NAME start, NAME each. */
void print_fit(const char *name, const struct figure *curve, int count);

double median(double *values, int count);
double ns_of(double ticks_taken);
/* Whether so many tries are enough, in the time that they took: on a machine that has other work
 * each may take milliseconds. */
bool is_enough(int tries, uint64_t since_ns);
/* What one call takes, in the median of some batches. */
double repeat_ns(void (*timed)(void), int times);

/* --- threads on other processors (helpers.c) ------------------------------------------------- */

void pin(int cpu);
void *allocate_lines(size_t size);

/* Does what it is asked, on its processor. */
struct helper;
struct helper *start_helper(int cpu);
void ask_helper(struct helper *helper, void (*run)(void));
void end_helper(struct helper *helper);

/* Threads that do the same until `end_crowd`. */
struct member {
  int index, cpu;
  _Alignas(LINE) uint64_t done, moved; /* what it says that it has done, and has got from others */
};
/* Of all, in a nanosecond. */
struct rates {
  double done, moved;
};
struct crowd;
struct crowd *start_crowd(const struct processor *const *on, int count,
                          void (*run)(struct member *));
bool crowd_goes_on(void);
/* Stops it after that many milliseconds. All 0: they did not run side by side, other programs had a
 * processor of theirs for a tenth of the time. */
struct rates end_crowd(struct crowd *crowd, int ms);

/* --- what is measured ------------------------------------------------------------------------ */

/* lines.c: in each round, all but the pairs. */
void start_lines(void);
void measure_lines(void);
void print_line_costs(void);
void print_occupancy(const struct summary *farthest);
/* Of a line that `other` has written to, read by `cpu`, in ns. */
double transfer_ns(int cpu, int other);

/* pairs.c */
void start_pairs(void);
/* Goes on with them until that time, or until each has been measured once. */
void measure_pairs(uint64_t until_ns);
bool has_all_pairs(void);
void judge_pairs(void);
void print_hops(void);
void print_transfers(void);
void print_pairs(void);
/* Of the nearest and of the farthest core, in cycles; false: there are none that can be used. */
bool transfers(struct summary *nearest, struct summary *farthest);

/* system.c */
void measure_system(void);
void print_system(void);

/* checks.c: in each round, and what came of it, in the head of the file and in its end. */
void start_checks(void);
void measure_checks(void);
void judge_checks(void);
void print_failures(void);
void print_checks(void);
void print_telling(void);

#endif
