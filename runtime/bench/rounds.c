/* SPDX-License-Identifier: MIT
 *
 * See rounds.h.
 */
#define _GNU_SOURCE
#include "rounds.h"
#include "bench.h"
#include "ratio.h"

#include "../base/atomic.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* --- libgomp --------------------------------------------------------------------------------- */

struct gomp gomp;

bool find_gomp(void) {
  void *library = dlopen("libgomp.so.1", RTLD_NOW);
  if (!library)
    return false;
  *(void **)&gomp.parallel = dlsym(library, "GOMP_parallel");
  *(void **)&gomp.thread = dlsym(library, "omp_get_thread_num");
  *(void **)&gomp.barrier = dlsym(library, "GOMP_barrier");
  *(void **)&gomp.copy_start = dlsym(library, "GOMP_single_copy_start");
  *(void **)&gomp.copy_end = dlsym(library, "GOMP_single_copy_end");
  *(void **)&gomp.atomic_start = dlsym(library, "GOMP_atomic_start");
  *(void **)&gomp.atomic_end = dlsym(library, "GOMP_atomic_end");
  return gomp.parallel && gomp.thread && gomp.barrier && gomp.copy_start && gomp.copy_end &&
         gomp.atomic_start && gomp.atomic_end;
}

/* --- one measurement ------------------------------------------------------------------------- */

static struct {
  const struct rounds *rounds;
  _Alignas(RELOCK_CACHE_LINE) uint64_t last_round; /* 0: not known yet */
  double ns;                                       /* of a round */
} run;

/* The first thread says which round is the last before anybody comes to that. */
static void do_rounds(int member) {
  enum { WARM = 10 };
  const uint64_t duration = (uint64_t)run.rounds->milliseconds * 1000000;
  const bool first = member == 0;
  uint64_t begin = 0, last;
  for (uint64_t round = 1;; round++) {
    if (first && round == WARM)
      begin = now_ns();
    if (first && round > WARM && run.last_round == 0 && now_ns() - begin > duration)
      __atomic_store_n(&run.last_round, round + (uint64_t)run.rounds->ahead, __ATOMIC_RELAXED);
    run.rounds->round(member, round - 1);
    last = __atomic_load_n(&run.last_round, __ATOMIC_RELAXED);
    if (last && round >= last)
      break;
  }
  if (first)
    run.ns = (double)(now_ns() - begin) / (double)(last - WARM + 1);
}

static void do_rounds_of_gomp(void *unused) {
  (void)unused;
  do_rounds(gomp.thread());
}

static void *do_rounds_of_thread(void *member) {
  do_rounds((int)(intptr_t)member);
  return NULL;
}

static void start_threads(int threads) {
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  for (int i = 0; i < threads; i++)
    if (!thread || pthread_create(&thread[i], NULL, do_rounds_of_thread, (void *)(intptr_t)i) != 0)
      fail(2, "cannot start %d threads; look at `ulimit -u`", threads);
  for (int i = 0; i < threads; i++)
    pthread_join(thread[i], NULL);
  free(thread);
}

double measure_rounds(const struct rounds *rounds) {
  run.rounds = rounds;
  run.last_round = 0;
  if (rounds->by_gomp)
    gomp.parallel(do_rounds_of_gomp, NULL, (unsigned)rounds->threads, 0);
  else
    start_threads(rounds->threads);
  return run.ns;
}

void print_kind(const char *kind, const double *ns, const double *pthread_ns, int count) {
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
