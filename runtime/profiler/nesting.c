/* SPDX-License-Identifier: MIT */
#include "nesting.h"
#include "held.h"
#include "pairs.h"
#include "store.h"

/* `reading`: see relock_nesting. */
static uint64_t key_of(uint32_t inner, uint32_t outer, uint32_t reading) {
  return (uint64_t)inner << 34 | (uint64_t)outer << 2 | reading;
}

/* Null where there is no room for it. */
static struct relock_nesting *record_of(struct thread *thread, uint64_t key) {
  struct relock_nesting *nesting =
      pairs_record(&thread->nestings, key, RELOCK_RECORD_NESTING, sizeof *nesting, NULL);
  if (!nesting)
    return NULL;
  nesting->inner = (uint32_t)(key >> 34);
  nesting->outer = (uint32_t)(key >> 2);
  nesting->reading = key & 3;
  return nesting;
}

static void count(struct relock_nesting *nesting, bool tried) {
  if (UNLIKELY(!nesting)) {
    count_drop(&header->dropped_nestings);
    return;
  }
  nesting->count++;
  nesting->tried += tried;
}

static bool is_of(const struct read_hold *hold, const struct relock_object *object) {
  const uint32_t primitive = hold->tally ? RELOCK_RWLOCK : RELOCK_CONVERTED;
  return object->primitive == primitive && (uintptr_t)hold->lock == object->address;
}

/* A lock that is read once more is still one. */
static bool is_first(const struct thread *thread, uint32_t hold) {
  for (uint32_t i = 0; i < hold; i++)
    if (thread->reads[i].lock == thread->reads[hold].lock)
      return false;
  return true;
}

void nesting_count(struct thread *thread, const struct relock_object *object, bool reading,
                   bool tried) {
  const uint32_t inner = reading ? RELOCK_READS_INNER : RELOCK_READS_NONE;
  struct thread *ready = recording_ready;
  bool stale = false;
  recording_ready = NULL; /* making a record is no place for a signal handler that locks */
  for (uint32_t i = 0; i < thread->held_count; i++) {
    struct held *outer = &thread->held[i];
    const uint32_t group = outer->object->group, nested = nested_groups(object->group, group);
    struct relock_nesting *nesting = outer->nesting;
    if (outer->object == object || !holds(thread, outer->object)) {
      stale = true; /* another thread has released it meanwhile */
      continue;
    }
    if (reading || !nesting || outer->nested != nested)
      nesting = record_of(thread, key_of(object->group, group, inner));
    if (!reading) {
      outer->nesting = nesting;
      outer->nested = nested;
    }
    count(nesting, tried);
  }
  for (uint32_t i = 0; i < thread->read_count; i++) {
    const struct read_hold *outer = &thread->reads[i];
    const uint32_t reading = inner | (outer->tally ? RELOCK_READS_OUTER : RELOCK_READS_NONE);
    if (!is_of(outer, object) && is_first(thread, i))
      count(record_of(thread, key_of(object->group, outer->group, reading)), tried);
  }
  if (stale)
    hold_forget(thread, object);
  recording_ready = ready;
}
