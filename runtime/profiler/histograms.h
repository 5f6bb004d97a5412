/* SPDX-License-Identifier: MIT
 *
 * A thread's own histograms and tallies of each group.
 */
#ifndef RELOCK_PROFILER_HISTOGRAMS_H
#define RELOCK_PROFILER_HISTOGRAMS_H

#include "thread.h"

/* Made if there is none; null is counted as dropped. */
struct relock_histogram *histogram_made(struct thread *thread, uint32_t group,
                                        enum relock_measure what);
/* RELOCK_WAIT or RELOCK_READ_WAIT, of a wait that found so many others waiting. */
void measure_wait(struct thread *thread, uint32_t group, enum relock_measure what, uint64_t value,
                  uint32_t waiters);
void measure_read_hold(struct thread *thread, uint32_t group, uint64_t value, uint32_t weight);
/* Null when memory is at its limit. */
struct relock_tally *thread_tally(struct thread *thread, uint32_t group);

/* `weight`: how many values it stands for. */
static inline void histogram_add(struct relock_histogram *histogram, uint64_t value,
                                 uint32_t weight) {
  histogram->values++;
  histogram->count += weight;
  histogram->total += weight * value;
  if (value > histogram->max)
    histogram->max = value;
  histogram->buckets[relock_bucket(value)] += weight;
  if (weight > 1)
    relock_chance_add(&histogram->chance, value, weight);
}

/* Null when there is none yet. */
static inline struct relock_histogram *histogram_of(const struct thread *thread, uint32_t group,
                                                    enum relock_measure what) {
  const struct stats *page = thread->page[group / STATS_PAGE];
  return LIKELY(page) ? page[group % STATS_PAGE].measure[what] : NULL;
}

/* Of RELOCK_WAIT and RELOCK_HOLD. */
static inline void measure(struct thread *thread, uint32_t group, enum relock_measure what,
                           uint64_t value, uint32_t weight) {
  struct relock_histogram *histogram = histogram_of(thread, group, what);
  if (UNLIKELY(!histogram))
    histogram = histogram_made(thread, group, what);
  if (LIKELY(histogram))
    histogram_add(histogram, value, weight);
}

#endif
