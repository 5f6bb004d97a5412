/* SPDX-License-Identifier: MIT
 *
 * See fans.h.
 */
#include "fans.h"

#include <stdlib.h>

double relock_bench_level(enum relock_bench_level level, const struct relock_bench_lines *lines,
                          int below) {
  const double gathered = below * lines->other, told = lines->together + lines->each * below;
  switch (level) {
  case RELOCK_BENCH_GATHER:
    return lines->memory + gathered;
  case RELOCK_BENCH_TELL:
    return lines->other + told;
  case RELOCK_BENCH_REDUCE:
    return lines->memory + 2 * (gathered + lines->other + lines->own);
  case RELOCK_BENCH_BROADCAST:
    return lines->other + told + gathered;
  }
  abort();
}

/* Below each that has some, when so many of all have been served. Of those told the upper one tells
 * others, too. */
static int rest(enum relock_bench_level level, int others, int below) {
  const int parents = level == RELOCK_BENCH_TELL ? below + 1 : below;
  return (others - below + parents - 1) / parents;
}

double relock_bench_tree(enum relock_bench_level level, const struct relock_bench_lines *lines,
                         int others, int *below) {
  double *least = calloc((size_t)others + 1, sizeof *least);
  if (!least)
    abort();
  for (int n = 1; n <= others; n++)
    for (int k = 1; k <= n; k++) {
      const double time = relock_bench_level(level, lines, k) + least[rest(level, n, k)];
      if (k > 1 && time >= least[n])
        continue;
      least[n] = time;
      if (n == others)
        *below = k;
    }
  const double all = least[others];
  free(least);
  return all;
}

int relock_bench_fan(enum relock_bench_level level, const struct relock_bench_lines *lines,
                     int others) {
  int best = 1;
  double least = 0;
  for (int fan = 1; fan <= others; fan++) {
    long served = 0, width = 1;
    double time = 0;
    for (; served < others; served += width) {
      width *= fan;
      time += relock_bench_level(level, lines, fan);
    }
    if (fan == 1 || time < least) {
      least = time;
      best = fan;
    }
  }
  return best;
}
