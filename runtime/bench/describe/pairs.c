/* SPDX-License-Identifier: MIT
 *
 * How far every two processors are from each other: what a line takes that the other one has
 * written to. The pairs are measured in an order of chance, and again while there is time, so that
 * where it is short a sample is measured.
 *
 * Pairs fall into classes where their times have gaps: sorted, a new class begins where a time is
 * more than a quarter above the one before, and classes with less than one pair of fifty belong to
 * the next one (a pair that was disturbed makes no distance). Where nine of ten pairs fit, the
 * classes say how many hops there are between nodes; else /sys does.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = MOST_ROUNDS, MOST_CLASSES = 9, MOST_NODES = 64, MOST_HOPS = 8 };

static struct pair {
  const struct processor *one, *other;
  int count;
  float values[SWEEPS];
  double median;
  int class; /* below 0: two threads of a core, or not measured */
} *pairs;
static int pair_count, next_pair, sweep;

static int class_count;
static struct summary classes[MOST_CLASSES];
static double class_least[MOST_CLASSES], class_most[MOST_CLASSES];

static int hops[MOST_NODES][MOST_NODES];
static bool classes_fit;
static double fitting; /* the part of pairs that does */

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory)
    fail(2, "no memory");
  return memory;
}

static void shuffle(void) {
  uint64_t random = 1;
  for (int i = pair_count - 1; i > 0; i--) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const int other = (int)((random >> 33) % (uint64_t)(i + 1));
    const struct pair kept = pairs[i];
    pairs[i] = pairs[other];
    pairs[other] = kept;
  }
}

void start_pairs(void) {
  if (node_count > MOST_NODES)
    fail(2, "%d caches of the last level are more than the simulator's %d nodes", node_count,
         MOST_NODES);
  pairs = allocate((size_t)processor_count * (size_t)(processor_count - 1) / 2, sizeof *pairs);
  for (int i = 0; i < processor_count; i++)
    for (int j = i + 1; j < processor_count; j++)
      pairs[pair_count++] = (struct pair){.one = &processors[i], .other = &processors[j]};
  shuffle();
}

/* Its last values, if there are more than the array has room for. */
static void measure_pair(struct pair *pair) {
  const double ns = transfer_ns(pair->one->number, pair->other->number);
  pair->values[pair->count++ % SWEEPS] = (float)(ns * round_clock);
}

void measure_pairs(uint64_t until_ns) {
  for (int i = 0; i < pair_count && (i == 0 || now_ns() < until_ns); i++) {
    measure_pair(&pairs[next_pair++]);
    sweep += next_pair == pair_count;
    next_pair %= pair_count;
  }
}

bool has_all_pairs(void) { return pair_count == 0 || sweep >= LEAST_ROUNDS; }

static int values_of(const struct pair *pair) {
  return pair->count < SWEEPS ? pair->count : SWEEPS;
}

static int hops_between(const struct processor *one, const struct processor *other) {
  return classes_fit ? hops[one->node][other->node] : hops_by_packages(one, other);
}

/* --- classes --------------------------------------------------------------------------------- */

static int by_median(const void *left, const void *right) {
  const struct pair *const *a = left, *const *b = right;
  return ascending(&(*a)->median, &(*b)->median);
}

static bool is_between_cores(const struct pair *pair) {
  return pair->one->core != pair->other->core;
}

/* Those that were measured, between different cores, in their order. */
static struct pair **sorted_pairs(int *count) {
  struct pair **sorted = allocate((size_t)pair_count, sizeof(struct pair *));
  *count = 0;
  for (int i = 0; i < pair_count; i++) {
    double values[SWEEPS];
    for (int j = 0; j < values_of(&pairs[i]); j++)
      values[j] = pairs[i].values[j];
    pairs[i].class = -1;
    if (pairs[i].count == 0)
      continue;
    pairs[i].median = median(values, values_of(&pairs[i]));
    if (is_between_cores(&pairs[i]))
      sorted[(*count)++] = &pairs[i];
  }
  qsort(sorted, (size_t)*count, sizeof *sorted, by_median);
  return sorted;
}

static bool is_gap(const struct pair *below, const struct pair *above) {
  enum { NO_GAP = 5 }; /* cycles */
  return above->median > 1.25 * below->median && above->median > below->median + NO_GAP;
}

/* Where classes begin; the last entry is behind them all. */
static int find_gaps(struct pair **sorted, int count, int *starts) {
  int found = 0;
  bool only_small = true; /* so far */
  for (int begin = 0, end; begin < count; begin = end) {
    for (end = begin + 1; end < count && !is_gap(sorted[end - 1], sorted[end]); end++)
      continue;
    const bool small = 50 * (end - begin) < count;
    if (found == 0 || (!small && !only_small && found < MOST_CLASSES))
      starts[found++] = begin;
    only_small = only_small && small;
  }
  starts[found] = count;
  return found;
}

static void find_classes(struct pair **sorted, int count) {
  int starts[MOST_CLASSES + 1];
  class_count = count ? find_gaps(sorted, count, starts) : 0;
  double *values = allocate((size_t)count, sizeof *values);
  for (int number = 0; number < class_count; number++) {
    const int first = starts[number], size = starts[number + 1] - first;
    for (int i = 0; i < size; i++) {
      sorted[first + i]->class = number;
      values[i] = sorted[first + i]->median;
    }
    class_least[number] = values[0];
    class_most[number] = values[size - 1];
    classes[number] = summarize(values, size);
  }
  free(values);
}

/* --- hops ------------------------------------------------------------------------------------ */

/* How many pairs of each class there are between two nodes; the most frequent one, below 0: none.
 */
static int class_between(int one, int other, int *of_it, int *all) {
  int counts[MOST_CLASSES] = {0}, most = -1;
  *of_it = *all = 0;
  for (int i = 0; i < pair_count; i++) {
    const int a = pairs[i].one->node, b = pairs[i].other->node;
    if (pairs[i].class < 0 || !((a == one && b == other) || (a == other && b == one)))
      continue;
    counts[pairs[i].class]++;
    (*all)++;
  }
  for (int number = 0; number < class_count; number++)
    if (counts[number] > *of_it) {
      most = number;
      *of_it = counts[number];
    }
  return most;
}

/* Hops in the order of classes, without those that no two nodes have. False: the nodes' own pairs
 * are not nearer than others. */
static bool number_hops(int between[MOST_NODES][MOST_NODES]) {
  int within = -1, rank[MOST_CLASSES], ranks = 0;
  bool used[MOST_CLASSES] = {false};
  for (int i = 0; i < node_count; i++)
    within = between[i][i] > within ? between[i][i] : within;
  for (int i = 0; i < node_count; i++)
    for (int j = 0; j < node_count; j++) {
      if (between[i][j] < 0 && i != j)
        return false; /* there was no time for a pair of them */
      if (i == j)
        continue;
      if (between[i][j] <= within)
        return false;
      used[between[i][j]] = true;
    }
  for (int number = 0; number < class_count; number++)
    rank[number] = used[number] ? ++ranks : 0;
  for (int i = 0; i < node_count; i++)
    for (int j = 0; j < node_count; j++)
      hops[i][j] = i == j ? 0 : rank[between[i][j]];
  return ranks <= MOST_HOPS;
}

static void find_hops(void) {
  static int between[MOST_NODES][MOST_NODES];
  int fit = 0, all = 0;
  for (int i = 0; i < node_count; i++)
    for (int j = i; j < node_count; j++) {
      int of_it, of_all;
      between[i][j] = between[j][i] = class_between(i, j, &of_it, &of_all);
      fit += of_it;
      all += of_all;
    }
  fitting = all ? (double)fit / all : 1;
  classes_fit = fitting >= 0.9 && number_hops(between);
}

void judge_pairs(void) {
  int count;
  struct pair **sorted = sorted_pairs(&count);
  find_classes(sorted, count);
  free(sorted);
  find_hops();
}

static int most_hops(void) {
  int most = 0;
  for (int i = 0; i < processor_count; i++)
    for (int j = 0; j < i; j++) {
      const int between = hops_between(&processors[i], &processors[j]);
      most = between > most ? between : most;
    }
  return most;
}

static const struct processor *first_of(int node) {
  for (int i = 0; i < processor_count; i++)
    if (processors[i].node == node)
      return &processors[i];
  return NULL;
}

void print_hops(void) {
  if (!classes_fit && class_count)
    printf(
        "# The classes of distances do not follow the nodes of /sys (%.0f %% of the pairs do).\n",
        100 * fitting);
  for (int from = 0; node_count > 1 && from < node_count; from++) {
    printf("hops %d =", from);
    for (int to = 0; to < node_count; to++)
      printf(" %d", hops_between(first_of(from), first_of(to)));
    printf("   # %s\n",
           classes_fit ? "measured: classes of distances" : "/sys: caches and packages");
  }
}

/* --- transfers ------------------------------------------------------------------------------- */

/* Of all values of pairs of cores that are so many hops apart. */
static struct summary transfer_over(int distance) {
  double *values = allocate((size_t)pair_count * SWEEPS, sizeof *values);
  int count = 0;
  for (int i = 0; i < pair_count; i++)
    if (is_between_cores(&pairs[i]) && hops_between(pairs[i].one, pairs[i].other) == distance)
      for (int j = 0; j < values_of(&pairs[i]); j++)
        values[count++] = pairs[i].values[j];
  const struct summary summary = summarize(values, count);
  free(values);
  return summary;
}

static double transfer_value(int distance) {
  enum { STANDARD = 170 }; /* of sapphire-16 */
  const struct summary summary = transfer_over(distance);
  return is_usable(&summary) ? summary.median : STANDARD;
}

bool transfers(struct summary *nearest, struct summary *farthest) {
  *farthest = *nearest = (struct summary){0};
  for (int distance = most_hops(); distance >= 0; distance--) {
    const struct summary summary = transfer_over(distance);
    if (summary.count && !is_usable(&summary))
      return false;
    if (summary.count && (!farthest->count || summary.median > farthest->median))
      *farthest = summary;
    if (summary.count && (!nearest->count || summary.median < nearest->median))
      *nearest = summary;
  }
  return nearest->count > 0;
}

void print_transfers(void) {
  for (int distance = 0; distance <= most_hops(); distance++) {
    const struct summary summary = transfer_over(distance);
    const struct figure figure = {.name = "transfer",
                                  .unit = "cycles",
                                  .index = distance,
                                  .least = 1,
                                  .most = 100000,
                                  .standard = transfer_value(distance),
                                  .how = "lines that another core has written to"};
    print_summary(&figure, &summary);
  }
  print_figure(&figures[MEMORY]);
  const double nearest = transfer_value(transfer_over(0).count ? 0 : 1); /* nodes of one core */
  for (int distance = 1; distance <= most_hops(); distance++) {
    const double further = transfer_value(distance) - nearest;
    printf("memory %d = %.0f cycles   # guess: as much more as a transfer\n", distance,
           figure_value(MEMORY) + (further > 0 ? further : 0));
  }
}

/* --- the matrix ------------------------------------------------------------------------------ */

/* By the processors' places in `processors`; null: the same one. */
static const struct pair **make_matrix(void) {
  const size_t side = (size_t)processor_count;
  const struct pair **matrix = allocate(side * side, sizeof *matrix);
  for (int i = 0; i < pair_count; i++) {
    const size_t one = (size_t)(pairs[i].one - processors),
                 other = (size_t)(pairs[i].other - processors);
    matrix[one * side + other] = matrix[other * side + one] = &pairs[i];
  }
  return matrix;
}

static void print_row(int number, const struct pair *const *row) {
  printf("pairs %d =", processors[number].number);
  for (int i = 0; i < processor_count; i++)
    if (!row[i])
      printf(" 0");
    else if (!row[i]->count)
      printf(" -");
    else
      printf(" %.0f", row[i]->median);
  printf(" cycles   # measured: medians of up to %d\n", SWEEPS);
}

void print_pairs(void) {
  if (pair_count == 0)
    return;
  printf("\n# Every two processors: a line that the other one has written to, in the order of the "
         "rows.\n");
  const struct pair **matrix = make_matrix();
  for (int i = 0; i < processor_count; i++)
    print_row(i, &matrix[i * processor_count]);
  free(matrix);
  for (int number = 0; number < class_count; number++)
    printf("class %d = %.0f cycles   # measured: %d pair%s of cores, from %.0f to %.0f\n", number,
           classes[number].median, classes[number].count, classes[number].count == 1 ? "" : "s",
           class_least[number], class_most[number]);
}
