/* SPDX-License-Identifier: MIT
 *
 * Figures and their quality. Each is measured once in every round, so its values are spread over
 * the whole time, and what the machine does meanwhile (its clock, its other work, a virtual
 * machine's host) shows in them. Of a figure's line in the file the source begins with its quality:
 *
 * `measured` with a spread of 10 % or less; `unsteady` of 50 % or less, or if there are but one or
 * two rounds; `default`, what is shipped, if it cannot be measured here or is spread more; `guess`
 * if nobody has measured it. The machines that we have files of differ by a factor of 1.5 to 4 in
 * most figures: a measured one that moves by half of itself says no more than those.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_of_measured = 0.10, most_of_unsteady = 0.50;

struct figure figures[FIGURES] = {
#define FIGURE(id, name, unit, least, most, standard, how)                                         \
  [id] = {name, unit, -1, least, most, standard, how, 0, {0}},
#include "figures.def"
};

double round_clock;

void note_in(struct figure *figure, double value) {
  if (figure->count < MOST_ROUNDS)
    figure->values[figure->count++] = value;
}

void note(enum figure_id id, double value) { note_in(&figures[id], value > 0 ? value : 0); }

void note_cycles(enum figure_id id, double ns) { note(id, ns * round_clock); }

double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

double ns_of(double ticks_taken) { return ticks_taken * 1e9 / ticks_per_second(); }

static uint64_t round_start;

void start_round(void) {
  struct host host;
  pin(processors[0].number);
  round_start = now_ns();
  measure_clock(&host);
  round_clock = host.cycles_per_ns;
  note(CLOCK, 1000 * round_clock);
}

bool round_is_over(void) {
  enum { MOST_MS = 4000 };
  return now_ns() - round_start > MOST_MS * 1000000u;
}

bool is_enough(int tries, uint64_t since_ns) {
  enum { LEAST_TRIES = 3, MS = 20 };
  return (tries >= LEAST_TRIES && now_ns() - since_ns > MS * 1000000u) ||
         (tries > 0 && round_is_over());
}

double repeat_ns(void (*timed)(void), int times) {
  enum { BATCHES = 11 };
  double taken[BATCHES];
  const uint64_t begin = now_ns();
  int batches = 0;
  while (batches < BATCHES && !is_enough(batches, begin)) {
    const uint64_t start = relock_ticks();
    for (int j = 0; j < times; j++)
      timed();
    taken[batches++] = ns_of((double)(relock_ticks() - start)) / times;
  }
  return median(taken, batches);
}

/* A figure of a few cycles or ns, or a small difference of two, is not noisy because it moves by
 * one: below 10 the spread is a part of 10. */
struct summary summarize(double *values, int count) {
  struct summary summary = {.count = count};
  if (count == 0)
    return summary;
  summary.median = median(values, count);
  const double width = values[count - 1 - count / 4] - values[count / 4];
  summary.spread = width / (summary.median > 10 ? summary.median : 10);
  return summary;
}

struct summary summary_of(const struct figure *figure) {
  double values[MOST_ROUNDS];
  memcpy(values, figure->values, sizeof values);
  return summarize(values, figure->count);
}

bool is_usable(const struct summary *summary) {
  return summary->count > 0 && summary->spread <= most_of_unsteady;
}

/* Of one or two rounds nobody knows how they are spread. */
static bool is_steady(const struct summary *summary) {
  return summary->count >= LEAST_ROUNDS && summary->spread <= most_of_measured;
}

static bool can_be_used(const struct figure *figure, const struct summary *summary) {
  const double value = rint(summary->median);
  return is_usable(summary) && value >= figure->least && value <= figure->most;
}

double figure_value(enum figure_id id) {
  const struct summary summary = summary_of(&figures[id]);
  return can_be_used(&figures[id], &summary) ? summary.median : figures[id].standard;
}

static void print_name(const char *name, int index) {
  fputs(name, stdout);
  if (index >= 0)
    printf(" %d", index);
}

static void print_value(const struct figure *figure, double value) {
  print_name(figure->name, figure->index);
  printf(" = %.0f %s", value, figure->unit);
}

/* Instead of what was measured. */
static void print_standard(const struct figure *figure, const struct summary *summary) {
  char reason[100] = "not measured: too few processors, or other programs had them";
  if (summary->count && summary->spread > most_of_unsteady)
    snprintf(reason, sizeof reason, "%.0f %% spread, too noisy to use the measured %.0f",
             100 * summary->spread, summary->median);
  else if (summary->count)
    snprintf(reason, sizeof reason, "the measured %.0f is out of bounds", summary->median);
  if (figure->standard >= 0) {
    print_value(figure, figure->standard);
    printf("   # default: %s\n", reason);
  } else if (summary->count) {
    printf("# left out: ");
    print_name(figure->name, figure->index);
    printf(": %s\n", reason);
  }
}

void print_summary(const struct figure *figure, const struct summary *summary) {
  if (!can_be_used(figure, summary)) {
    print_standard(figure, summary);
    return;
  }
  print_value(figure, summary->median);
  printf("   # %s: median of %d, spread %.0f %%; %s\n",
         is_steady(summary) ? "measured" : "unsteady", summary->count, 100 * summary->spread,
         figure->how);
}

void print_figure(const struct figure *figure) {
  const struct summary summary = summary_of(figure);
  print_summary(figure, &summary);
}

void print_line(const char *name, double value, const char *unit, const char *source, ...) {
  va_list arguments;
  va_start(arguments, source);
  printf("%s = %.0f%s%s   # ", name, value, *unit ? " " : "", unit);
  vprintf(source, arguments);
  putchar('\n');
  va_end(arguments);
}

void print_yes_no(const char *name, bool value, const char *source) {
  printf("%s = %s   # %s\n", name, value ? "yes" : "no", source);
}

void start_figure(struct figure *figure, const char *name, int index, const char *how) {
  *figure = (struct figure){name, "cycles", index, 0, 1000000, -1, how, 0, {0}};
}

int start_curve(struct figure *curve, int last, const char *name, const char *how) {
  int count = 0;
  for (int index = 1; count < MOST_OF_CURVE - 1 && index < last; index *= 2)
    start_figure(&curve[count++], name, index, how);
  start_figure(&curve[count++], name, last, how);
  return count;
}

struct line {
  double start, each;
};

/* By least squares; neither is below 0, which no time is. */
static struct line fit(const double *x, const double *y, int count) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (int i = 0; i < count; i++) {
    sum_x += x[i];
    sum_y += y[i];
    sum_xx += x[i] * x[i];
    sum_xy += x[i] * y[i];
  }
  const double each = (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
  const double start = (sum_y - each * sum_x) / count;
  if (each < 0)
    return (struct line){sum_y / count, 0};
  if (start < 0)
    return (struct line){0, sum_xy / sum_xx};
  return (struct line){start, each};
}

void print_fit(const char *name, const struct figure *curve, int count) {
  double x[MOST_OF_CURVE], y[MOST_OF_CURVE], worst = 0;
  int used = 0;
  for (int i = 0; i < count; i++) {
    const struct summary summary = summary_of(&curve[i]);
    if (!can_be_used(&curve[i], &summary))
      continue;
    x[used] = curve[i].index;
    y[used++] = summary.median;
  }
  if (used < 3) /* a line goes through any two */
    return;
  const struct line line = fit(x, y, used);
  for (int i = 0; i < used; i++)
    worst = fmax(worst, fabs(line.start + line.each * x[i] - y[i]) / fmax(y[i], 1));
  printf("%s start = %.0f cycles   # fit: start + N times each; off by %.0f %% at most\n", name,
         line.start, 100 * worst);
  printf("%s each = %.0f cycles   # fit: the slope\n", name, line.each);
}
