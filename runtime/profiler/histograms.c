/* SPDX-License-Identifier: MIT */
#include "histograms.h"

static struct relock_histogram *new_histogram(uint32_t thread, uint32_t group,
                                              enum relock_measure what) {
  struct relock_histogram *histogram;
  record_lock();
  histogram = record_allocate(RELOCK_RECORD_HISTOGRAM, sizeof *histogram);
  if (histogram) {
    histogram->group = group;
    histogram->measure = what;
    histogram->thread = thread;
  }
  record_unlock();
  return histogram;
}

static struct stats *thread_stats(struct thread *thread, uint32_t group) {
  struct stats **page = &thread->page[group / STATS_PAGE];
  if (!*page) {
    record_lock();
    *page = private_allocate(STATS_PAGE * sizeof **page);
    record_unlock();
    if (!*page)
      return NULL;
  }
  return &(*page)[group % STATS_PAGE];
}

static struct shared_stats *thread_shared_stats(struct thread *thread, uint32_t group) {
  struct shared_stats **page = &thread->shared_page[group / STATS_PAGE];
  if (!*page) {
    record_lock();
    *page = private_allocate(STATS_PAGE * sizeof **page);
    record_unlock();
    if (!*page)
      return NULL;
  }
  return &(*page)[group % STATS_PAGE];
}

static struct relock_tally *new_tally(uint32_t group) {
  struct relock_tally *tally;
  record_lock();
  tally = record_allocate(RELOCK_RECORD_TALLY, sizeof *tally);
  if (tally)
    tally->group = group;
  record_unlock();
  return tally;
}

struct relock_tally *thread_tally(struct thread *thread, uint32_t group) {
  struct shared_stats *stats = thread_shared_stats(thread, group);
  if (!stats)
    return NULL;
  if (!stats->tally)
    stats->tally = new_tally(group);
  return stats->tally;
}

/* Where a thread keeps the histogram; null if there is no room for that. */
static struct relock_histogram **slot_of(struct thread *thread, uint32_t group,
                                         enum relock_measure what) {
  if (what == RELOCK_READ_WAIT || what == RELOCK_READ_HOLD) {
    struct shared_stats *shared = thread_shared_stats(thread, group);
    if (!shared)
      return NULL;
    return what == RELOCK_READ_WAIT ? &shared->read_wait : &shared->read_hold;
  }
  struct stats *stats = thread_stats(thread, group);
  return stats ? &stats->measure[what] : NULL;
}

struct relock_histogram *histogram_made(struct thread *thread, uint32_t group,
                                        enum relock_measure what) {
  struct relock_histogram **slot = slot_of(thread, group, what);
  if (slot && !*slot)
    *slot = new_histogram(thread->record->id, group, what);
  if (!slot || !*slot) {
    count_drop(&header->dropped_histograms);
    return NULL;
  }
  return *slot;
}

void measure_wait(struct thread *thread, uint32_t group, enum relock_measure what, uint64_t value,
                  uint32_t waiters) {
  struct relock_histogram *histogram = histogram_made(thread, group, what);
  if (!histogram)
    return;
  histogram_add(histogram, value, 1);
  histogram->waiters += waiters;
  if (waiters > histogram->waiters_max)
    histogram->waiters_max = waiters;
}

void measure_read_hold(struct thread *thread, uint32_t group, uint64_t value, uint32_t weight) {
  struct relock_histogram *histogram = histogram_made(thread, group, RELOCK_READ_HOLD);
  if (histogram)
    histogram_add(histogram, value, weight);
}
