/* SPDX-License-Identifier: MIT
 *
 * What --barriers and --teams have in common: rounds of all threads, which are the benchmark's own
 * or libgomp's, if that is on the machine (it is found when the program runs).
 */
#ifndef RELOCK_BENCH_ROUNDS_H
#define RELOCK_BENCH_ROUNDS_H

#include <stdbool.h>

enum { MOST_KINDS = 8, MOST_REPETITIONS = 1000 };

struct rounds {
  void (*round)(int member, unsigned long number); /* from 0 on, both */
  int threads, milliseconds;
  int ahead;    /* so many rounds members may be ahead of the first */
  bool by_gomp; /* its threads */
};

/* Nanoseconds of a round. */
double measure_rounds(const struct rounds *rounds);

/* What gcc makes of `#pragma omp`: of parallel, barrier, single copyprivate, atomic. */
struct gomp {
  void (*parallel)(void (*run)(void *), void *data, unsigned threads, unsigned flags);
  int (*thread)(void);
  void (*barrier)(void);
  void *(*copy_start)(void); /* null in the thread that has what is copied */
  void (*copy_end)(void *data);
  void (*atomic_start)(void);
  void (*atomic_end)(void);
};
extern struct gomp gomp;
bool find_gomp(void);

/* A line: the median of so many, and that of their ratios to others, of the same repetition. */
void print_kind(const char *kind, const double *ns, const double *other_ns, int count);

#endif
