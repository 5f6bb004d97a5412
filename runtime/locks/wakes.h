/* SPDX-License-Identifier: MIT
 *
 * Sleeping clients that a combiner has to wake once it has released the word; before that, waking
 * would be done under the lock. Addresses only: the clients may be gone.
 */
#ifndef RELOCK_LOCKS_WAKES_H
#define RELOCK_LOCKS_WAKES_H

#include "../base/options.h"
#include "../base/os.h"

#include <stddef.h>
#include <stdint.h>

enum { RELOCK_LONGEST_BATCH = 144 }; /* relock_tuning.batch is at most that */

struct relock_wakes {
  unsigned count;
  const uint32_t *futex[RELOCK_LONGEST_BATCH + 2]; /* and the next leader, or two */
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
