/* SPDX-License-Identifier: MIT */
#include "nesting.h"

/* Each mutex of a static array is a group of its own, so that pairs can be many. */
enum { FIRST_CAPACITY = 64, PAIRS_MAX = 1 << 14 };

static struct relock_nesting **slot(struct relock_nesting **table, uint32_t capacity,
                                    uint32_t inner, uint32_t outer) {
  uint64_t hash = ((uint64_t)inner << 32 | outer) * 0x9e3779b97f4a7c15ull;
  for (uint64_t at = hash >> 32;; at++) {
    struct relock_nesting **entry = &table[at & (capacity - 1)];
    if (!*entry || ((*entry)->inner == inner && (*entry)->outer == outer))
      return entry;
  }
}

/* With the record lock. At least half of the table stays empty. */
static bool make_room(struct nestings *nestings) {
  uint32_t capacity = nestings->capacity ? 2 * nestings->capacity : FIRST_CAPACITY;
  struct relock_nesting **table;
  if (2 * nestings->count < nestings->capacity)
    return true;
  table = nestings->count < PAIRS_MAX ? private_allocate(capacity * sizeof *table) : NULL;
  if (!table)
    return false;
  for (uint32_t i = 0; i < nestings->capacity; i++) {
    struct relock_nesting *nesting = nestings->table[i];
    if (nesting)
      *slot(table, capacity, nesting->inner, nesting->outer) = nesting;
  }
  nestings->table = table;
  nestings->capacity = capacity;
  return true;
}

static struct relock_nesting *add(struct nestings *nestings, uint32_t inner, uint32_t outer) {
  struct relock_nesting *nesting = NULL;
  record_lock();
  if (make_room(nestings))
    nesting = record_allocate(RELOCK_RECORD_NESTING, sizeof *nesting);
  record_unlock();
  if (!nesting)
    return NULL;
  nesting->inner = inner;
  nesting->outer = outer;
  *slot(nestings->table, nestings->capacity, inner, outer) = nesting;
  nestings->count++;
  return nesting;
}

static struct relock_nesting *pair(struct nestings *nestings, uint32_t inner, uint32_t outer) {
  struct relock_nesting *nesting = NULL;
  if (nestings->capacity)
    nesting = *slot(nestings->table, nestings->capacity, inner, outer);
  return nesting ? nesting : add(nestings, inner, outer);
}

void nesting_count(struct thread *thread, const struct relock_object *object, bool tried) {
  for (uint32_t i = 0; i < thread->held_count; i++) {
    const struct relock_object *held = thread->held[i];
    struct relock_nesting *nesting;
    if (held == object || held->counts.owner != thread->record->id)
      continue; /* another thread has released it meanwhile */
    nesting = pair(&thread->nestings, object->group, held->group);
    if (!nesting) {
      count_drop(&header->dropped_nestings);
      continue;
    }
    nesting->count++;
    nesting->tried += tried;
  }
}
