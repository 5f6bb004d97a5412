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

#endif
