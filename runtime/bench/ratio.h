/* SPDX-License-Identifier: MIT
 *
 * Whether one row is faster than another one, by repetitions that were measured in turns. What
 * disturbs one of a pair disturbs the other one too, so the ratios within pairs differ much less
 * than the repetitions do. Nothing is assumed of how they are distributed: the interval of their
 * median has two of them as bounds. The tool is compiled with this file, too.
 */
#ifndef RELOCK_BENCH_RATIO_H
#define RELOCK_BENCH_RATIO_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>

enum relock_bench_told {
  RELOCK_BENCH_TOO_FEW, /* pairs for any interval: no statement */
  RELOCK_BENCH_ALIKE,   /* the interval has 1 in it: they cannot be told apart */
  RELOCK_BENCH_SLOWER,
  RELOCK_BENCH_FASTER
};

struct relock_bench_ratio {
  int pairs;
  enum relock_bench_told told;
  double median, low, high; /* 95 % or more; of too few pairs, the extremes */
};

/* Fewer pairs have no such interval: five of five ahead are one chance in sixteen. */
enum { RELOCK_BENCH_LEAST_PAIRS = 6 };

/* Sorts the ratios. */
struct relock_bench_ratio relock_bench_ratio_of(double *ratios, int count);

/* Whether a cache line travelled as far for both of a pair: what its transfer took before and
 * after each of them, in ns; 0: not known. */
bool relock_bench_comparable(const double tried[2], const double against[2]);

#ifdef __cplusplus
}
#endif

#endif
