/* SPDX-License-Identifier: MIT
 *
 * Locks for relock-bench --other: one that works, and, with -DTWICE, one that runs some sections
 * twice, as a lock does that loses track of whose request was done.
 */
#include "bench/other.h"

#include <pthread.h>
#include <stdlib.h>

static int entered;

static void *create(int threads) {
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  if (mutex && threads > 0)
    pthread_mutex_init(mutex, NULL);
  return mutex;
}

static void destroy(void *lock) {
  if (entered != 0)
    abort(); /* whoever enters leaves */
  pthread_mutex_destroy(lock);
  free(lock);
}

static void enter(void *lock, int thread) {
  (void)lock;
  (void)thread;
  __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
}

static void leave(void *lock, int thread) {
  (void)lock;
  (void)thread;
  __atomic_fetch_sub(&entered, 1, __ATOMIC_RELAXED);
}

static void run(void *lock, int thread, int (*section)(void *), void *context) {
  static int count;
  pthread_mutex_lock(lock);
  section(context);
#ifdef TWICE
  if (++count % 7 == 0)
    section(context);
#endif
  (void)thread;
  (void)count;
  pthread_mutex_unlock(lock);
}

const struct relock_bench_lock relock_bench_locks[] = {
    {"foreign", create, destroy, enter, leave, run},
    {"without-threads", create, destroy, 0, 0, run},
    {0},
};
