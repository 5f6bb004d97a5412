/* SPDX-License-Identifier: MIT
 *
 * Somebody else's locks in the same run: `relock-bench --other FILE.so` measures each element of
 * the array `relock_bench_locks` that the shared object defines.
 *
 *   static void run(void *lock, int thread, int (*section)(void *), void *context) {
 *     take(lock);
 *     section(context);
 *     give_back(lock);
 *   }
 *   const struct relock_bench_lock relock_bench_locks[] = {{"mine", create, destroy, 0, 0, run},
 *                                                          {0}};
 */
#ifndef RELOCK_BENCH_OTHER_H
#define RELOCK_BENCH_OTHER_H

struct relock_bench_lock {
  const char *name; /* null: end of the array */
  /* A fresh lock, for that many threads with the numbers 0 to threads - 1. */
  void *(*create)(int threads);
  void (*destroy)(void *lock);
  /* Called by each thread before its first and after its last operation; may be null. */
  void (*enter)(void *lock, int thread);
  void (*leave)(void *lock, int thread);
  /* Runs the section under the lock. */
  void (*execute)(void *lock, int thread, int (*section)(void *), void *context);
};

extern const struct relock_bench_lock relock_bench_locks[];

/* Somebody else's containers: `relock-bench --containers --other FILE.so` measures each element of
 * the array `relock_bench_containers`. A thread adds to a counter, or puts in and takes out in
 * turns. */
struct relock_bench_container {
  const char *name;      /* of the row; null: end of the array */
  const char *container; /* beside which one it stands: counter, stack, queue or queue-2 */
  /* A fresh one, for that many threads with the numbers 0 to threads - 1; null: it cannot. */
  void *(*create)(int threads);
  void (*destroy)(void *container);
  /* Puts something in, or takes something out. 0: nothing was there. */
  int (*use)(void *container, int thread, int take);
  /* What a counter counts, or how much is inside, while no thread uses it. */
  unsigned long (*inside)(void *container);
};

extern const struct relock_bench_container relock_bench_containers[];

#endif
