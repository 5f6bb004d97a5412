/* SPDX-License-Identifier: MIT
 *
 * What values that were chosen by chance, each of which stands for some others, leave uncertain.
 * Of the profiler, of the library's own statistics, and of the reader of both, in C++.
 */
#ifndef RELOCK_BASE_CHANCE_H
#define RELOCK_BASE_CHANCE_H

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

/* Of the mean of so many values with this sum, as a part of its square. The mean is a quotient of
 * two sums that chance has a part in: its variance is that of the sum of the values less the mean.
 */
static inline double relock_relative_variance(const struct relock_chance *chance, uint64_t count,
                                              uint64_t total) {
  const double mean = count ? (double)total / (double)count : 0;
  const double variance =
      chance->squares - 2 * mean * chance->values + mean * mean * chance->weights;
  return total && variance > 0 ? variance / ((double)total * (double)total) : 0;
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
