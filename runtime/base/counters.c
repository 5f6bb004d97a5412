/* SPDX-License-Identifier: MIT
 *
 * Counting and adding up.
 */
#include "counters.h"

#include "../statistics/times.h"
#include "class.h"
#include "os.h"
#include "thread.h"

uint32_t relock_stats_timed;

/* What threads without a record count, which several do at once. */
static struct relock_counters unrecorded[RELOCK_MAX_CLASSES];

/* Those of a class that a record has none of. Null: no room. */
static struct relock_counters *make_counters(struct relock_thread *record, uint32_t index) {
  struct relock_counters *more =
      relock_os->reserve((RELOCK_MAX_CLASSES - RELOCK_OWN_CLASSES) * sizeof *more);
  /* Release: pairs with the acquire in relock_counters_of(). */
  relock_store_release(&record->more_counters, more);
  return more ? &more[index - RELOCK_OWN_CLASSES] : NULL;
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

static void add_up(uint32_t index, uint64_t sum[RELOCK_COUNTERS]) {
  for (int c = 0; c < RELOCK_COUNTERS; c++)
    sum[c] = relock_load_relaxed(&unrecorded[index].value[c]);
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    struct relock_counters *counters = relock_counters_of(relock_thread_numbered(i), index);
    for (int c = 0; counters && c < RELOCK_COUNTERS; c++)
      sum[c] += relock_load_relaxed(&counters->value[c]);
  }
}

void relock_class_statistics(relock_class_t *lock_class, relock_statistics_t *statistics) {
  lock_class = lock_class ? lock_class : &relock_default_class;
  relock_class_register(lock_class);
  uint64_t sum[RELOCK_COUNTERS];
  add_up(lock_class->relock_index, sum);
  const struct relock_algorithm *algorithm = relock_load_relaxed(&lock_class->relock_ops);
  *statistics = (relock_statistics_t){
      .algorithm = algorithm->name,
      .server = algorithm->has_server ? relock_load_relaxed(&lock_class->relock_server) + 1 : 0,
      .mutexes = relock_load_relaxed(&lock_class->relock_mutexes),
      .held = sum[RELOCK_COUNT_HELD],
      .executed = sum[RELOCK_COUNT_EXECUTED],
      .delegated = sum[RELOCK_COUNT_DELEGATED],
      .batches = sum[RELOCK_COUNT_BATCHES],
      .contended = sum[RELOCK_COUNT_CONTENDED],
      .parked = sum[RELOCK_COUNT_PARKED],
      .switches = sum[RELOCK_COUNT_SWITCHES],
      .wait_ns = relock_times_ns(relock_times_waited(lock_class->relock_index)),
  };
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
    if (record->more_counters)
      clear(record->more_counters, RELOCK_MAX_CLASSES - RELOCK_OWN_CLASSES);
  }
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next)
    relock_store_relaxed(&c->relock_mutexes, 0);
  relock_times_after_fork();
}
