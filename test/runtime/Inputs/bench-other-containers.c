/* SPDX-License-Identifier: MIT
 *
 * A counter for relock-bench --containers --other; with -DLOSES one that forgets some additions.
 */
#include "bench/other.h"

#include <stdlib.h>

#ifndef BESIDE
#define BESIDE "counter"
#endif
#ifndef LOSES
#define LOSES 0
#endif

static void *create(int threads) { return calloc(1, (size_t)threads * sizeof(unsigned long)); }

static int use(void *counter, int thread, int take) {
  static __thread unsigned long used;
  (void)thread, (void)take;
  if (LOSES && used++ % 100 == 3)
    return 1;
  __atomic_fetch_add((unsigned long *)counter, 1, __ATOMIC_RELAXED);
  return 1;
}

static unsigned long inside(void *counter) { return *(unsigned long *)counter; }

const struct relock_bench_container relock_bench_containers[] = {
    {"foreign", BESIDE, create, free, use, inside}, {0}};
