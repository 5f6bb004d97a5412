/* SPDX-License-Identifier: MIT */
#include "nesting.h"

static struct relock_nesting **list_of(struct thread *thread, uint32_t inner, uint32_t outer) {
  return &thread->nestings[(inner * 31 + outer) % NESTING_LISTS];
}

static struct relock_nesting *find(struct relock_nesting *list, uint32_t inner, uint32_t outer) {
  while (list && (list->inner != inner || list->outer != outer))
    list = (struct relock_nesting *)(uintptr_t)list->next;
  return list;
}

/* At the head of its list: a record that another process may be copying never changes its links. */
static struct relock_nesting *add(struct relock_nesting **list, uint32_t inner, uint32_t outer) {
  struct relock_nesting *nesting;
  record_lock();
  nesting = record_allocate(RELOCK_RECORD_NESTING, sizeof *nesting);
  record_unlock();
  if (!nesting)
    return NULL;
  nesting->inner = inner;
  nesting->outer = outer;
  nesting->next = (uintptr_t)*list;
  *list = nesting;
  return nesting;
}

void nesting_count(struct thread *thread, const struct relock_object *object, bool tried) {
  for (uint32_t i = 0; i < thread->held_count; i++) {
    const struct relock_object *held = thread->held[i];
    struct relock_nesting **list, *nesting;
    if (held == object || held->counts.owner != thread->record->id)
      continue; /* another thread has released it meanwhile */
    list = list_of(thread, object->group, held->group);
    nesting = find(*list, object->group, held->group);
    if (!nesting)
      nesting = add(list, object->group, held->group);
    if (!nesting) {
      count_drop(&header->dropped_nestings);
      continue;
    }
    nesting->count++;
    nesting->tried += tried;
  }
}
