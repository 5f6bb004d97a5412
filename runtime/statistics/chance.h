/* SPDX-License-Identifier: MIT
 *
 * What values that were chosen by chance, each of which stands for some others, leave uncertain.
 * Of the profiler, of the library's own statistics, and of the reader of both, in C++.
 */
#ifndef RELOCK_STATISTICS_CHANCE_H
#define RELOCK_STATISTICS_CHANCE_H

#include <stdint.h>

/* A value that stands for w adds w (w - 1) times the square of its distance from the mean to the
 * variance of the sum of all; the mean is not known yet, so these are the sums of w (w - 1), of
 * that times the value, and of that times its square.
 */
struct relock_chance {
  double weights, values, squares;
};

static inline void relock_chance_add(struct relock_chance *chance, uint64_t value,
                                     uint32_t weight) {
  const double times = (double)weight * (weight - 1), number = (double)value;
  chance->weights += times;
  chance->values += times * number;
  chance->squares += times * number * number;
}

/* The mean of the chosen values, each counted as it adds to the variance of what all stand for. */
static inline double relock_chosen_mean(const struct relock_chance *chance) {
  return chance->weights > 0 ? chance->values / chance->weights : 0;
}

/* What a value is expected to be that was not measured: if none was chosen, the mean of all. */
static inline double relock_expected(const struct relock_chance *chance, uint64_t count,
                                     uint64_t total) {
  if (chance->weights > 0 || !count)
    return relock_chosen_mean(chance);
  return (double)total / (double)count;
}

/* The sum of the values, which stand for `count` and have that total, when there are `exactly` so
 * many. What chance has made too many or too few are chosen ones: the others stand for themselves,
 * and would be falsified by a factor. Of all multiples of the difference, that by the mean of the
 * chosen ones leaves the least variance. */
static inline double relock_likely_sum(uint64_t count, uint64_t total, uint64_t exactly,
                                       double expected) {
  const double sum = (double)total + ((double)exactly - (double)count) * expected;
  return sum > 0 ? sum : 0;
}

static inline double relock_likely_total(const struct relock_chance *chance, uint64_t count,
                                         uint64_t total, uint64_t exactly) {
  return relock_likely_sum(count, total, exactly, relock_expected(chance, count, total));
}

/* Of that sum, as a part of its square. */
static inline double relock_relative_variance(const struct relock_chance *chance, double total) {
  const double variance = chance->squares - relock_chosen_mean(chance) * chance->values;
  return total > 0 && variance > 0 ? variance / (total * total) : 0;
}

/* On how many values that chance chose it rests, all of which stand for the same number of others;
 * `count` is what all values stand for, those included that stand for themselves. */
static inline double relock_chosen(const struct relock_chance *chance, uint64_t count,
                                   uint64_t values) {
  const double others = (double)count - (double)values, squares = chance->weights - others;
  return others > 0 && squares > 0 ? others * others / squares : 0;
}

/* From so many on it is said how far off they leave a sum. From fewer that is not known itself. */
#define RELOCK_CHOSEN_LEAST 10

#endif
