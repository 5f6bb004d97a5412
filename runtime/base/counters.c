/* SPDX-License-Identifier: MIT
 *
 * Counting and adding up.
 */
#include "counters.h"

#include "annotate.h"
#include "class.h"
#include "os.h"
#include "thread.h"

uint32_t relock_stats_timed;

/* What threads without a record count, which several do at once. */
static struct relock_counters unrecorded[RELOCK_MAX_CLASSES];

/* Those of a class that a record has none of. Null: no room, now or a while ago. */
static struct relock_counters *make_counters(struct relock_thread *record, uint32_t index) {
  if (record->counters_refused > 0) {
    record->counters_refused--;
    return NULL;
  }
  const size_t size = RELOCK_PAGE_CLASSES * sizeof(struct relock_counters);
  struct relock_counters *page = relock_os->reserve(size);
  if (!page)
    record->counters_refused = RELOCK_REFUSED;
  else if (relock_is_watched())
    relock_annotate_own(page, size);
  /* Release: pairs with the acquire in relock_counters_of(). */
  relock_store_release(&record->more_counters[(index - RELOCK_OWN_CLASSES) / RELOCK_PAGE_CLASSES],
                       page);
  return relock_counters_of(record, index);
}

void relock_stats_count(struct relock_thread *self, uint32_t index, enum relock_counter counter,
                        uint64_t amount) {
  struct relock_counters *counters = self ? relock_counters_of(self, index) : NULL;
  if (self && !counters)
    counters = make_counters(self, index);
  if (counters)
    relock_count_own(&counters->value[counter], amount);
  else
    relock_add_relaxed(&unrecorded[index].value[counter], amount);
}

uint64_t relock_stats_read(struct relock_thread *record, uint32_t index,
                           enum relock_counter counter) {
  struct relock_counters *counters = relock_counters_of(record, index);
  return counters ? relock_load_relaxed(&counters->value[counter]) : 0;
}

void relock_stats_add_up(uint32_t index, uint64_t sum[RELOCK_COUNTERS]) {
  for (int c = 0; c < RELOCK_COUNTERS; c++)
    sum[c] = relock_load_relaxed(&unrecorded[index].value[c]);
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    struct relock_counters *counters = relock_counters_of(relock_thread_numbered(i), index);
    for (int c = 0; counters && c < RELOCK_COUNTERS; c++)
      sum[c] += relock_load_relaxed(&counters->value[c]);
  }
}

/* Atomically, since nothing orders what the parent's threads counted before the fork. */
static void clear(struct relock_counters *counters, unsigned classes) {
  for (unsigned i = 0; i < classes; i++)
    for (int k = 0; k < RELOCK_COUNTERS; k++)
      relock_store_relaxed(&counters[i].value[k], 0);
}

void relock_stats_after_fork(void) {
  clear(unrecorded, sizeof unrecorded / sizeof *unrecorded);
  for (uint32_t i = 0; i < relock_threads_end(); i++) {
    struct relock_thread *record = relock_thread_numbered(i);
    clear(record->counters, RELOCK_OWN_CLASSES);
    for (unsigned page = 0; page < RELOCK_PAGES; page++)
      if (record->more_counters[page])
        clear(record->more_counters[page], RELOCK_PAGE_CLASSES);
  }
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next)
    relock_store_relaxed(&c->relock_mutexes, 0);
}
