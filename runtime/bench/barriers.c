/* SPDX-License-Identifier: MIT
 *
 * --barriers: what a round takes whose threads do nothing else, by each algorithm, the C library's
 * barrier, and libgomp's if that is on the machine (it is found when the program runs). In turns,
 * as ratios to the C library's of the same repetition.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "rounds.h"

#include "../collectives/barrier.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* --- one measurement ------------------------------------------------------------------------- */

static pthread_barrier_t pthread_one;
static relock_barrier_t relock_one;

static void wait_pthread(int member, unsigned long number) {
  (void)member, (void)number;
  pthread_barrier_wait(&pthread_one);
}
static void wait_relock(int member, unsigned long number) {
  (void)member, (void)number;
  relock_barrier_wait(&relock_one);
}
static void wait_gomp(int member, unsigned long number) {
  (void)member, (void)number;
  gomp.barrier();
}

/* Nanoseconds of a round. */
static double measure_barrier(const char *kind, int threads, int milliseconds) {
  struct rounds rounds = {.threads = threads, .milliseconds = milliseconds};
  double ns;
  if (strcmp(kind, "libgomp") == 0) {
    rounds.round = wait_gomp;
    rounds.by_gomp = true;
    ns = measure_rounds(&rounds);
  } else if (strcmp(kind, "pthread") == 0) {
    rounds.round = wait_pthread;
    if (pthread_barrier_init(&pthread_one, NULL, (unsigned)threads) != 0)
      fail(2, "no memory");
    ns = measure_rounds(&rounds);
    pthread_barrier_destroy(&pthread_one);
  } else {
    rounds.round = wait_relock;
    relock_barrier_choose(strcmp(kind, "default") == 0 ? NULL : kind);
    if (relock_barrier_init(&relock_one, NULL, (unsigned)threads) != 0)
      fail(2, "no memory");
    ns = measure_rounds(&rounds);
    relock_barrier_destroy(&relock_one);
  }
  return ns;
}

/* --- all ------------------------------------------------------------------------------------- */

/* The first one is what the others are compared with. */
static int make_kinds(const char **kinds) {
  static char names[256];
  int count = 0;
  kinds[count++] = "pthread";
  if (find_gomp())
    kinds[count++] = "libgomp";
  kinds[count++] = "default";
  snprintf(names, sizeof names, "%s", relock_barrier_algorithms);
  for (char *save, *name = strtok_r(names, " ", &save); name && count < MOST_KINDS;
       name = strtok_r(NULL, " ", &save))
    kinds[count++] = name;
  return count;
}

void compare_barriers(const struct options *options) {
  static double ns[MOST_KINDS][MOST_REPETITIONS];
  const char *kinds[MOST_KINDS];
  const int count = make_kinds(kinds);
  for (int t = 0; t < options->thread_values; t++) {
    const int threads = options->threads[t];
    for (int i = 0; i < options->repetitions; i++)
      for (int k = 0; k < count; k++) {
        const int turn = i % 2 ? count - 1 - k : k;
        ns[turn][i] = measure_barrier(kinds[turn], threads, options->milliseconds);
      }
    printf("%d thread%s, ns of a round; as a part of pthread's, the median of %d and 95 %%\n",
           threads, threads == 1 ? "" : "s", options->repetitions);
    for (int k = 0; k < count; k++)
      print_kind(kinds[k], ns[k], ns[0], options->repetitions);
  }
}
