/* SPDX-License-Identifier: MIT
 *
 * Waking clients while their batch goes on. See batch.h.
 */
#include "batch.h"

/* Waking a thread takes some 2 microseconds: so at most an eighth of a batch's time. */
enum { WAKE_EVERY_US = 16 };

void relock_batch_wake(struct relock_batch *batch, const uint32_t *last) {
  if (last && batch->last_is_urgent)
    relock_os->futex_wake(last, 1);
  else
    relock_wakes_add(&batch->wakes, last);
  if (batch->now - batch->woke < relock_batch_ticks(WAKE_EVERY_US) * batch->wakes.count)
    return;
  relock_wakes_send(&batch->wakes);
  batch->wakes.count = 0;
  batch->woke = batch->now;
}
