/* SPDX-License-Identifier: MIT */
#include "pairs.h"
#include "store.h"

/* Each mutex of a static array is a group of its own, so that pairs can be many. */
enum { FIRST_CAPACITY = 64, PAIRS_MAX = 1 << 14 };

static struct pair *slot(struct pair *table, uint32_t capacity, uint64_t key) {
  uint64_t hash = key * 0x9e3779b97f4a7c15ull;
  for (uint64_t at = hash >> 32;; at++) {
    struct pair *entry = &table[at & (capacity - 1)];
    if (!entry->record || entry->key == key)
      return entry;
  }
}

/* With the record lock. At least half of the table stays empty. */
static bool make_room(struct pairs *pairs) {
  uint32_t capacity = pairs->capacity ? 2 * pairs->capacity : FIRST_CAPACITY;
  struct pair *table;
  if (2 * pairs->count < pairs->capacity)
    return true;
  table = pairs->count < PAIRS_MAX ? private_allocate(capacity * sizeof *table) : NULL;
  if (!table)
    return false;
  for (uint32_t i = 0; i < pairs->capacity; i++)
    if (pairs->table[i].record)
      *slot(table, capacity, pairs->table[i].key) = pairs->table[i];
  pairs->table = table;
  pairs->capacity = capacity;
  return true;
}

static void *add(struct pairs *pairs, uint64_t key, enum relock_record_kind kind, size_t size,
                 uint32_t *left) {
  void *record = NULL;
  record_lock();
  if ((!left || *left) && make_room(pairs))
    record = record_allocate(kind, size);
  if (record && left)
    --*left;
  record_unlock();
  if (!record)
    return NULL;
  *slot(pairs->table, pairs->capacity, key) = (struct pair){key, record};
  pairs->count++;
  return record;
}

void *pairs_record(struct pairs *pairs, uint64_t key, enum relock_record_kind kind, size_t size,
                   uint32_t *left) {
  void *record = NULL;
  if (pairs->capacity)
    record = slot(pairs->table, pairs->capacity, key)->record;
  return record ? record : add(pairs, key, kind, size, left);
}
