/* SPDX-License-Identifier: MIT */
#include "nesting.h"
#include "hold.h"
#include "pairs.h"

void nesting_count(struct thread *thread, const struct relock_object *object, bool tried) {
  bool stale = false;
  for (uint32_t i = 0; i < thread->held_count; i++) {
    const struct relock_object *held = thread->held[i].object;
    uint64_t key = (uint64_t)object->group << 32 | held->group;
    struct relock_nesting *nesting;
    if (held == object || !holds(thread, held)) {
      stale = true; /* another thread has released it meanwhile */
      continue;
    }
    nesting = pairs_record(&thread->nestings, key, RELOCK_RECORD_NESTING, sizeof *nesting, NULL);
    if (!nesting) {
      count_drop(&header->dropped_nestings);
      continue;
    }
    nesting->inner = object->group;
    nesting->outer = held->group;
    nesting->count++;
    nesting->tried += tried;
  }
  if (stale)
    hold_forget(thread, object);
}
