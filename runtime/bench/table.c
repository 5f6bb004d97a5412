/* SPDX-License-Identifier: MIT
 *
 * The tables of --table: medians and extremes, what the host gave meanwhile, and ratios.
 */
#include "bench.h"

#include "ratio.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>

/* Three digits, without an exponent where they can do without. */
static void print_short(char *text, size_t size, double value) {
  int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  if (value > 0 && value < 1)
    snprintf(text, size, "%.3g", value);
  else
    snprintf(text, size, "%.*f", decimals, value);
}

/* "median [least-most]" */
static void print_cell(double *sample, int count, int width) {
  char median[20], least[20], most[20], cell[70];
  const struct spread spread = spread_of(sample, count);
  print_short(median, sizeof median, spread.median);
  print_short(least, sizeof least, spread.least);
  print_short(most, sizeof most, spread.most);
  snprintf(cell, sizeof cell, "%s [%s-%s]", median, least, most);
  printf(" %*s", width, cell);
}

static void print_label(const struct row *row) {
  char label[LABEL];
  printf("%-26s", row_label(row, label));
}

enum { COLUMN = 22 };

static int digits(int value) { return snprintf(NULL, 0, "%d", value); }

static void print_head(const struct options *options, const char *what) {
  printf("%-26s", what);
  for (int t = 0; t < options->thread_values; t++)
    printf(" %*s%d", COLUMN - digits(options->threads[t]), "T=", options->threads[t]);
  putchar('\n');
}

/* One quantity: a line for each row, a column for each number of threads. */
static void print_quantity(const struct options *options, const struct row *rows, size_t row_count,
                           struct result *results, const char *what,
                           double (*value)(const struct result *)) {
  double *sample = calloc((size_t)options->repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  putchar('\n');
  print_head(options, what);
  for (size_t r = 0; r < row_count; r++) {
    print_label(&rows[r]);
    for (int t = 0; t < options->thread_values; t++) {
      for (int i = 0; i < options->repetitions; i++)
        sample[i] =
            value(&results[((size_t)t * row_count + r) * (size_t)options->repetitions + (size_t)i]);
      print_cell(sample, options->repetitions, COLUMN);
    }
    putchar('\n');
  }
  free(sample);
}

/* --- ratios of repetitions measured in turns ------------------------------------------------- */

/* What a table is made of. */
struct grid {
  const struct options *options;
  const struct row *rows;
  size_t row_count;
  const struct result *results;
};

static const struct result *result_of(const struct grid *grid, int t, size_t row, int repetition) {
  const size_t repetitions = (size_t)grid->options->repetitions;
  return &grid->results[((size_t)t * grid->row_count + row) * repetitions + (size_t)repetition];
}

static double thousands(const struct result *r) {
  return (double)r->operations / r->seconds / 1000;
}

/* With --lengths the cycles of sections in place of their number: of short ones there are more. */
static double rate(const struct result *r) {
  return r->work > 0 ? r->work / r->seconds / 1e6 : thousands(r);
}

static struct relock_bench_ratio ratio_at(const struct grid *grid, int t, size_t tried,
                                          size_t against) {
  double *ratios = calloc((size_t)grid->options->repetitions, sizeof *ratios);
  int pairs = 0;
  if (!ratios)
    fail(2, "no memory");
  for (int i = 0; i < grid->options->repetitions; i++) {
    const struct result *a = result_of(grid, t, tried, i), *b = result_of(grid, t, against, i);
    if (relock_bench_comparable(a->transfer_ns, b->transfer_ns))
      ratios[pairs++] = rate(a) / rate(b);
  }
  struct relock_bench_ratio ratio = relock_bench_ratio_of(ratios, pairs);
  free(ratios);
  return ratio;
}

/* "1.02 [0.97-1.06] ~": ~ is not told apart, ? too few pairs to tell anything. */
static void print_ratio(const struct relock_bench_ratio *ratio) {
  static const char marks[] = {[RELOCK_BENCH_TOO_FEW] = '?',
                               [RELOCK_BENCH_ALIKE] = '~',
                               [RELOCK_BENCH_SLOWER] = ' ',
                               [RELOCK_BENCH_FASTER] = ' '};
  char median[20], low[20], high[20], cell[70];
  print_short(median, sizeof median, ratio->median);
  print_short(low, sizeof low, ratio->low);
  print_short(high, sizeof high, ratio->high);
  snprintf(cell, sizeof cell, "%s [%s-%s] %c", median, low, high, marks[ratio->told]);
  printf(" %*s", COLUMN, ratio->pairs ? cell : "- ?");
}

static void print_left_out(int pairs) {
  if (pairs)
    printf("%d pairs left out: two processors were not as far apart for both repetitions\n", pairs);
}

static void print_ratios(const struct grid *grid, const struct row *baseline) {
  int left_out = 0;
  char label[LABEL], what[LABEL + 20];
  snprintf(what, sizeof what, "ratio to %s", row_label(baseline, label));
  putchar('\n');
  print_head(grid->options, what);
  for (size_t r = 0; r < grid->row_count; r++) {
    if (&grid->rows[r] == baseline)
      continue;
    print_label(&grid->rows[r]);
    for (int t = 0; t < grid->options->thread_values; t++) {
      struct relock_bench_ratio ratio = ratio_at(grid, t, r, (size_t)(baseline - grid->rows));
      print_ratio(&ratio);
      left_out += grid->options->repetitions - ratio.pairs;
    }
    putchar('\n');
  }
  printf("median of the ratios of repetitions [95 %% interval]; ~: not told apart; ?: fewer than "
         "%d comparable pairs\n",
         RELOCK_BENCH_LEAST_PAIRS);
  print_left_out(left_out);
}

static double median_rate(const struct grid *grid, int t, size_t row) {
  double *sample = calloc((size_t)grid->options->repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  for (int i = 0; i < grid->options->repetitions; i++)
    sample[i] = rate(result_of(grid, t, row, i));
  const double median = spread_of(sample, grid->options->repetitions).median;
  free(sample);
  return median;
}

/* Of locks: no lock can be as fast as the limit. */
static size_t fastest_row(const struct grid *grid, int t) {
  size_t fastest = grid->row_count;
  for (size_t r = 0; r < grid->row_count; r++)
    if (grid->rows[r].way != WAY_FETCH_AND_ADD &&
        (fastest == grid->row_count || median_rate(grid, t, r) > median_rate(grid, t, fastest)))
      fastest = r;
  return fastest;
}

/* Which rows may be as fast as the one with the greatest median. */
static void print_fastest(const struct grid *grid, int t) {
  const size_t fastest = fastest_row(grid, t);
  char label[LABEL];
  bool any = false;
  if (fastest == grid->row_count)
    return;
  printf("T=%d: %s has the greatest median", grid->options->threads[t],
         row_label(&grid->rows[fastest], label));
  for (size_t r = 0; r < grid->row_count; r++) {
    if (r == fastest || grid->rows[r].way == WAY_FETCH_AND_ADD)
      continue;
    struct relock_bench_ratio ratio = ratio_at(grid, t, r, fastest);
    if (ratio.told != RELOCK_BENCH_ALIKE && ratio.told != RELOCK_BENCH_TOO_FEW)
      continue;
    printf("%s %s", any ? "," : "; not told apart from it:", row_label(&grid->rows[r], label));
    any = true;
  }
  puts(any ? "" : "; all others are told apart from it");
}

static double mean_us(const struct result *r) { return r->mean_ns / 1000; }
static double p99_us(const struct result *r) { return r->p99_ns / 1000; }
static double worst_ms(const struct result *r) { return r->worst_ns / 1e6; }
static double fairness(const struct result *r) { return r->jain; }
static double service_fairness(const struct result *r) { return r->service_jain; }
static double switches(const struct result *r) { return r->switches; }

/* Over all rows, whose repetitions were measured in turns: a column for each number of threads. */
static void print_host(const struct grid *grid, const char *what,
                       const double *(*both)(const struct result *)) {
  const size_t repetitions = (size_t)grid->options->repetitions;
  double *sample = calloc(2 * grid->row_count * repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  printf("%-26s", what);
  for (int t = 0; t < grid->options->thread_values; t++) {
    int count = 0;
    for (size_t r = 0; r < grid->row_count; r++)
      for (int i = 0; i < grid->options->repetitions; i++) {
        const double *values = both(result_of(grid, t, r, i));
        sample[count++] = values[0];
        sample[count++] = values[1];
      }
    print_cell(sample, count, COLUMN);
  }
  putchar('\n');
  free(sample);
}

static const double *transfer(const struct result *r) { return r->transfer_ns; }
static const double *clock_rate(const struct result *r) { return r->cycles_per_ns; }

void print_table(const struct options *options, const struct row *rows, size_t row_count, int lines,
                 int delay, struct result *results) {
  static const struct {
    const char *what;
    double (*value)(const struct result *);
  } quantities[] = {
      {"thousand sections/s", thousands}, {"mean latency, us", mean_us},
      {"p99 latency, us", p99_us},        {"worst latency, ms", worst_ms},
      {"fairness (Jain)", fairness},      {"context switches/s", switches},
  };
  printf("\n%d cache line%s per section, %d cycles between sections; median [least-most] of %d\n",
         lines, lines == 1 ? "" : "s", delay, options->repetitions);
  for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
    print_quantity(options, rows, row_count, results, quantities[i].what, quantities[i].value);
  if (options->length_values) {
    print_quantity(options, rows, row_count, results, "million cycles/s", rate);
    print_quantity(options, rows, row_count, results, "fair by time (Jain)", service_fairness);
  }
  const struct grid grid = {options, rows, row_count, results};
  putchar('\n');
  print_head(options, "the host meanwhile");
  print_host(&grid, "a line's transfer, ns", transfer);
  print_host(&grid, "cycles per ns", clock_rate);
  const struct row *baseline = baseline_of(options, rows, row_count);
  if (baseline)
    print_ratios(&grid, baseline);
  if (options->repetitions >= RELOCK_BENCH_LEAST_PAIRS) {
    putchar('\n');
    for (int t = 0; t < options->thread_values; t++)
      print_fastest(&grid, t);
  }
  print_flush();
}

/* How many times as fast as the baseline's, in a process with threads. */
static void print_uncontended_ratios(const struct options *options, const struct row *rows,
                                     size_t row_count, const struct uncontended *results,
                                     double *ratios) {
  const struct row *baseline = baseline_of(options, rows, row_count);
  const size_t repetitions = (size_t)options->repetitions;
  char label[LABEL];
  if (!baseline)
    return;
  printf("\nspeed, ratio to %s\n", row_label(baseline, label));
  for (size_t r = 0; r < row_count; r++) {
    if (&rows[r] == baseline)
      continue;
    for (size_t i = 0; i < repetitions; i++)
      ratios[i] =
          results[(size_t)(baseline - rows) * repetitions + i].ns / results[r * repetitions + i].ns;
    struct relock_bench_ratio ratio = relock_bench_ratio_of(ratios, options->repetitions);
    print_label(&rows[r]);
    print_ratio(&ratio);
    putchar('\n');
  }
}

void print_uncontended_table(const struct options *options, const struct row *rows,
                             size_t row_count, const struct uncontended *results) {
  const int repetitions = options->repetitions;
  double *sample = calloc((size_t)repetitions, sizeof *sample);
  if (!sample)
    fail(2, "no memory");
  printf("\nns per empty section, one thread; median [least-most] of %d\n", repetitions);
  printf("%-26s %*s %*s\n", "", COLUMN, "process with threads", COLUMN, "without");
  for (size_t r = 0; r < row_count; r++) {
    const struct uncontended *of_row = &results[r * (size_t)repetitions];
    print_label(&rows[r]);
    for (int i = 0; i < repetitions; i++)
      sample[i] = of_row[i].ns;
    print_cell(sample, repetitions, COLUMN);
    for (int i = 0; i < repetitions; i++)
      sample[i] = of_row[i].single_ns;
    print_cell(sample, repetitions, COLUMN);
    putchar('\n');
  }
  print_uncontended_ratios(options, rows, row_count, results, sample);
  free(sample);
  print_flush();
}
