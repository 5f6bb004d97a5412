/* SPDX-License-Identifier: MIT */
#include "record.h"
#include "events.h"
#include "hold.h"
#include "objects.h"
#include "processor.h"
#include "sample.h"
#include "site.h"
#include "threads.h"

#include <errno.h>
#include <string.h>

bool record_start(void) {
  if (!store_start() || !objects_start())
    return false;
  site_refresh_modules();
  sample_start();
  timing_start();
  events_start(sample_interval());
  relock_processors_load(store_directory(), private_allocate);
  store_complete();
  return true;
}

/* Objects count themselves in their groups, which have been cleared before. */
static void clear_record(struct relock_record *record, const struct thread *survivor,
                         uint64_t now) {
  switch (record->kind) {
  case RELOCK_RECORD_THREAD: {
    struct relock_thread_record *thread = (struct relock_thread_record *)record;
    bool lives = survivor && survivor->record == thread;
    thread->live = lives;
    thread->started = lives;
    thread->start_ticks = now;
    thread->ended_time = thread->section_time = thread->sections = thread->sampling = 0;
    thread->wait_start = 0;
    thread->section_start = lives && (survivor->held_count || survivor->read_count) ? now : 0;
    thread->section_weight = 1;
    break;
  }
  case RELOCK_RECORD_OBJECT:
    object_clear((struct relock_object *)record);
    break;
  case RELOCK_RECORD_HISTOGRAM: {
    struct relock_histogram *histogram = (struct relock_histogram *)record;
    memset(&histogram->count, 0,
           offsetof(struct relock_histogram, group) - offsetof(struct relock_histogram, count));
    break;
  }
  case RELOCK_RECORD_NESTING: {
    struct relock_nesting *nesting = (struct relock_nesting *)record;
    nesting->count = nesting->tried = 0;
    break;
  }
  case RELOCK_RECORD_EDGE: {
    struct relock_edge *edge = (struct relock_edge *)record;
    edge->count = edge->wait = 0;
    break;
  }
  case RELOCK_RECORD_INTERVALS: {
    struct relock_intervals *intervals = (struct relock_intervals *)record;
    memset(intervals->wait, 0, sizeof intervals->wait);
    break;
  }
  case RELOCK_RECORD_TALLY: {
    struct relock_tally *tally = (struct relock_tally *)record;
    memset(&tally->acquisitions, 0, sizeof *tally - offsetof(struct relock_tally, acquisitions));
    break;
  }
  case RELOCK_RECORD_TIMELINE: {
    struct relock_timeline *timeline = (struct relock_timeline *)record;
    memset(timeline->counts, 0, sizeof *timeline - offsetof(struct relock_timeline, counts));
    break;
  }
  case RELOCK_RECORD_SITE: {
    struct relock_site *site = (struct relock_site *)record;
    site->samples = site->acquisitions = site->hold = site->contended = site->wait = 0;
    break;
  }
  }
}

static void clear_drops(void) {
  header->dropped_objects = header->dropped_histograms = header->dropped_threads = 0;
  header->dropped_nested = header->dropped_modules = 0;
  header->unrecorded_children = header->foreign_releases = 0;
  header->dropped_nestings = header->dropped_samples = header->dropped_edges = 0;
  header->dropped_counters = 0;
}

void record_before_fork(struct thread *thread) {
  __atomic_fetch_add(&header->forks, 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; thread && i < thread->held_count; i++)
    thread->depths[i] = thread->held[i].object->counts.depth;
}

/* The forking thread still holds what it held; all other holders stayed behind. */
static void restore_holds(struct thread *survivor, uint64_t now) {
  for (uint32_t i = 0; survivor && i < survivor->held_count; i++) {
    struct relock_counts *counts = &survivor->held[i].object->counts;
    survivor->held[i].plain = 0;
    counts->owner = survivor->id;
    counts->depth = survivor->depths[i];
    counts->hold_start = now;
    counts->hold_weight = 1;
  }
  for (uint32_t i = 0; survivor && i < survivor->read_count; i++) {
    survivor->reads[i].since = now;
    survivor->reads[i].weight = 1;
  }
}

bool record_restart(struct thread *survivor) {
  int before = errno;
  uint64_t now;
  if (!store_restart()) {
    errno = before;
    return false;
  }
  clear_drops();
  if (store_is_torn())
    objects_forget_changed();
  now = header->start_ticks;
  groups_clear();
  for (struct relock_record *record = NULL; (record = store_next(record));)
    clear_record(record, survivor, now);
  restore_holds(survivor, now);
  if (survivor) {
    survivor->pending_count = 0; /* what was held begins anew */
    sample_begin(survivor);
  }
  threads_restart(survivor);
  store_complete();
  errno = before;
  return true;
}
