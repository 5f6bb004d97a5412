/* SPDX-License-Identifier: MIT
 *
 * Sleeping clients that a combiner has to wake once it has released the word; before that, waking
 * would be done under the lock. Addresses only: the clients may be gone.
 */
#ifndef RELOCK_LOCKS_WAKES_H
#define RELOCK_LOCKS_WAKES_H

#include "../base/os.h"

#include <stddef.h>
#include <stdint.h>

/* Sections that a combiner runs for others. The bound of Fatourou and Kallimanis is 3h for h
 * hardware threads, where the thesis of Lozi (2014) found latency flat between 1 and 500 and
 * fairness the only thing at stake. h = 48 is its machine. */
enum { RELOCK_BATCH = 144 };

struct relock_wakes {
  unsigned count;
  const uint32_t *futex[RELOCK_BATCH + 2]; /* and the next leader, or two */
};

/* Null: nobody sleeps there. */
static inline void relock_wakes_add(struct relock_wakes *wakes, const uint32_t *futex) {
  if (futex)
    wakes->futex[wakes->count++] = futex;
}

/* The last first: the next leader is among the last. */
static inline void relock_wakes_send(const struct relock_wakes *wakes) {
  for (unsigned i = wakes->count; i-- > 0;)
    relock_os->futex_wake(wakes->futex[i], 1);
}

#endif
