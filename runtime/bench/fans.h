/* SPDX-License-Identifier: MIT
 *
 * How many should be below one in a tree, by the costs of cache lines: the model of Ramos and
 * Hoefler, "Cache line aware algorithm design" (2016). Of its bounds the lower one, which it
 * minimises.
 */
#ifndef RELOCK_BENCH_FANS_H
#define RELOCK_BENCH_FANS_H

/* In any unit of time: a read of a line that the reader has, that another one has, that nobody has;
 * and of one that so many read at once: together + each * readers. The paper's R_L, R_R, R_I, b, c.
 */
struct relock_bench_lines {
  double own, other, memory;
  double together, each;
};

enum relock_bench_level {
  RELOCK_BENCH_GATHER,    /* one waits for a line of each below: table 5 */
  RELOCK_BENCH_TELL,      /* those below wait for one line: equation 26 */
  RELOCK_BENCH_REDUCE,    /* each below is told when, and says when: algorithm 7, equation 33 */
  RELOCK_BENCH_BROADCAST, /* a line for those below, and one of each that has it: equation 32 */
};

/* What a level takes with so many below one. */
double relock_bench_level(enum relock_bench_level level, const struct relock_bench_lines *lines,
                          int below);

/* The least time of a tree for so many beside the root, each level with a number of its own;
 * *below: the root's. As the time of a level grows with the number alone, the rest is best split
 * evenly (equations 32 and 34); those told may tell others while their own tell theirs
 * (section 3.2). */
double relock_bench_tree(enum relock_bench_level level, const struct relock_bench_lines *lines,
                         int others, int *below);

/* The number that suits a tree for so many beside the root which has the same on all levels, as
 * the runtime's teams have. */
int relock_bench_fan(enum relock_bench_level level, const struct relock_bench_lines *lines,
                     int others);

#endif
