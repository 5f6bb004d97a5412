/* SPDX-License-Identifier: MIT */
#include "timeline.h"
#include "store.h"

static struct relock_timeline *timeline;
static bool refused; /* there was no room; what is missing shows in the number of waits */

/* A process without waits has none. */
static struct relock_timeline *begin(void) {
  struct relock_timeline *result;
  record_lock();
  result = timeline;
  if (!result && !refused) {
    result = record_allocate(RELOCK_RECORD_TIMELINE, sizeof *result);
    __atomic_store_n(&timeline, result, __ATOMIC_RELEASE);
    __atomic_store_n(&refused, !result, __ATOMIC_RELAXED);
  }
  record_unlock();
  return result;
}

void timeline_add(const struct thread *thread, uint32_t group, uint64_t start, uint64_t wait) {
  struct relock_timeline *waits = __atomic_load_n(&timeline, __ATOMIC_ACQUIRE);
  unsigned ring = relock_ring(wait);
  struct relock_wait *entry;
  if (!waits && !__atomic_load_n(&refused, __ATOMIC_RELAXED))
    waits = begin();
  if (!waits)
    return;
  entry = &waits->waits[ring][__atomic_fetch_add(&waits->counts[ring], 1, __ATOMIC_RELAXED) %
                              RELOCK_RING_SIZE];
  /* A reader that comes in between, after a death, finds no entry rather than half of two. */
  __atomic_store_n(&entry->wait, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  entry->start = start;
  entry->thread = thread->record->id;
  entry->group = group;
  __atomic_store_n(&entry->wait, wait, __ATOMIC_RELEASE);
}
