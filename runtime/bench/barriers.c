/* SPDX-License-Identifier: MIT
 *
 * --barriers: what a round takes whose threads do nothing else, by each algorithm, the C library's
 * barrier, and libgomp's if that is on the machine (it is found when the program runs). In turns,
 * as ratios to the C library's of the same repetition.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "ratio.h"

#include "../collectives/barrier.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KINDS = 8, MOST_REPETITIONS = 1000 };

/* --- libgomp: what gcc makes of `#pragma omp parallel` and `#pragma omp barrier` ---------------
 */

static void (*gomp_parallel)(void (*run)(void *), void *data, unsigned threads, unsigned flags);
static void (*gomp_barrier)(void);
static int (*gomp_thread)(void);

static bool find_gomp(void) {
  void *library = dlopen("libgomp.so.1", RTLD_NOW);
  if (!library)
    return false;
  *(void **)&gomp_parallel = dlsym(library, "GOMP_parallel");
  *(void **)&gomp_barrier = dlsym(library, "GOMP_barrier");
  *(void **)&gomp_thread = dlsym(library, "omp_get_thread_num");
  return gomp_parallel && gomp_barrier && gomp_thread;
}

/* --- one measurement ------------------------------------------------------------------------- */

static pthread_barrier_t pthread_one;
static relock_barrier_t relock_one;

static void wait_pthread(void) { pthread_barrier_wait(&pthread_one); }
static void wait_relock(void) { relock_barrier_wait(&relock_one); }
static void wait_gomp(void) { gomp_barrier(); }

static struct {
  void (*wait)(void);
  uint64_t duration_ns;
  _Alignas(RELOCK_CACHE_LINE) uint64_t last_round; /* 0: not known yet */
  double ns;                                       /* of a round */
} run;

/* The first thread says which round is the last before it comes to that. */
static void *do_rounds(void *first) {
  enum { WARM = 10 };
  uint64_t begin = 0, last;
  for (uint64_t round = 1;; round++) {
    if (first && round == WARM)
      begin = now_ns();
    if (first && round > WARM && run.last_round == 0 && now_ns() - begin > run.duration_ns)
      __atomic_store_n(&run.last_round, round, __ATOMIC_RELAXED);
    run.wait();
    last = __atomic_load_n(&run.last_round, __ATOMIC_RELAXED);
    if (last && round >= last)
      break;
  }
  if (first)
    run.ns = (double)(now_ns() - begin) / (double)(last - WARM + 1);
  return NULL;
}

static void do_rounds_by_gomp(void *unused) {
  (void)unused;
  do_rounds(gomp_thread() == 0 ? &run : NULL);
}

static void do_rounds_by_threads(int threads) {
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  for (int i = 0; i < threads; i++)
    if (!thread || pthread_create(&thread[i], NULL, do_rounds, i == 0 ? &run : NULL) != 0)
      fail(2, "cannot start %d threads; look at `ulimit -u`", threads);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  free(thread);
}

/* Nanoseconds of a round. */
static double measure_barrier(const char *kind, int threads, int milliseconds) {
  run.duration_ns = (uint64_t)milliseconds * 1000000;
  run.last_round = 0;
  if (strcmp(kind, "libgomp") == 0) {
    run.wait = wait_gomp;
    gomp_parallel(do_rounds_by_gomp, NULL, (unsigned)threads, 0);
  } else if (strcmp(kind, "pthread") == 0) {
    run.wait = wait_pthread;
    if (pthread_barrier_init(&pthread_one, NULL, (unsigned)threads) != 0)
      fail(2, "no memory");
    do_rounds_by_threads(threads);
    pthread_barrier_destroy(&pthread_one);
  } else {
    run.wait = wait_relock;
    relock_barrier_choose(strcmp(kind, "default") == 0 ? NULL : kind);
    if (relock_barrier_init(&relock_one, NULL, (unsigned)threads) != 0)
      fail(2, "no memory");
    do_rounds_by_threads(threads);
    relock_barrier_destroy(&relock_one);
  }
  return run.ns;
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

static void print_kind(const char *kind, const double *ns, const double *pthread_ns, int count) {
  double ratios[MOST_REPETITIONS], sorted[MOST_REPETITIONS];
  for (int i = 0; i < count; i++) {
    ratios[i] = ns[i] / pthread_ns[i];
    sorted[i] = ns[i];
  }
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  const struct relock_bench_ratio ratio = relock_bench_ratio_of(ratios, count);
  printf("  %-10s %12.0f   %5.2f   (%.2f to %.2f)\n", kind, sorted[count / 2], ratio.median,
         ratio.low, ratio.high);
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
