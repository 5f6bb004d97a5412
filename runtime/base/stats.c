/* SPDX-License-Identifier: MIT
 *
 * Counting, adding up, and the table at exit.
 */
#include "stats.h"

#include "class.h"
#include "os.h"
#include "panic.h"
#include "stats_file.h"
#include "thread.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t relock_stats_timed;

/* What threads without a record count, which several do at once. */
static struct relock_counters unrecorded[RELOCK_MAX_CLASSES];

/* The counters of a class in a record; null if there never were any. make: make them. */
static struct relock_counters *counters_in(struct relock_thread *record, uint32_t index,
                                           bool make) {
  if (index < RELOCK_OWN_CLASSES)
    return &record->counters[index];
  /* Acquire: pairs with the release below. */
  struct relock_counters *more = relock_load_acquire(&record->more_counters);
  if (!more && make) {
    more = relock_os->reserve((RELOCK_MAX_CLASSES - RELOCK_OWN_CLASSES) * sizeof *more);
    /* Release: pairs with the acquire above. */
    relock_store_release(&record->more_counters, more);
  }
  return more ? &more[index - RELOCK_OWN_CLASSES] : NULL;
}

void relock_stats_count(struct relock_thread *self, const relock_class_t *lock_class,
                        enum relock_counter counter, uint64_t amount) {
  uint32_t index = lock_class->relock_index;
  struct relock_counters *counters = self ? counters_in(self, index, true) : NULL;
  if (counters)
    relock_count_own(&counters->value[counter], amount);
  else
    relock_add_relaxed(&unrecorded[index].value[counter], amount);
}

static void add_up(uint32_t index, uint64_t sum[RELOCK_COUNTERS]) {
  for (int c = 0; c < RELOCK_COUNTERS; c++)
    sum[c] = relock_load_relaxed(&unrecorded[index].value[c]);
  uint32_t end = relock_threads_end();
  for (uint32_t i = 0; i < end; i++) {
    struct relock_counters *counters = counters_in(relock_thread_numbered(i), index, false);
    for (int c = 0; counters && c < RELOCK_COUNTERS; c++)
      sum[c] += relock_load_relaxed(&counters->value[c]);
  }
}

void relock_class_statistics(relock_class_t *lock_class, relock_statistics_t *statistics) {
  lock_class = lock_class ? lock_class : &relock_default_class;
  relock_class_register(lock_class);
  uint64_t sum[RELOCK_COUNTERS];
  add_up(lock_class->relock_index, sum);
  *statistics = (relock_statistics_t){
      .algorithm = relock_load_relaxed(&lock_class->relock_ops)->name,
      .mutexes = relock_load_relaxed(&lock_class->relock_mutexes),
      .held = sum[RELOCK_COUNT_HELD],
      .executed = sum[RELOCK_COUNT_EXECUTED],
      .delegated = sum[RELOCK_COUNT_DELEGATED],
      .batches = sum[RELOCK_COUNT_BATCHES],
      .contended = sum[RELOCK_COUNT_CONTENDED],
      .parked = sum[RELOCK_COUNT_PARKED],
      .switches = sum[RELOCK_COUNT_SWITCHES],
      .wait_ns = sum[RELOCK_COUNT_WAIT_NS],
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
}

/* Where the table goes: a duplicate of the standard error of the start, since some programs close
 * theirs before they end. */
static int start_descriptor = -1;

static bool to_file;

void relock_stats_start(const char *file) {
  to_file = file != NULL;
  if (file && !relock_stats_file_start(file))
    relock_usage_error("RELOCK_STATS: the file name '%s' is too long", file);
  relock_store_relaxed(&relock_stats_timed, 1);
  start_descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
}

static int descriptor(void) {
  return fcntl(start_descriptor, F_GETFD) < 0 ? STDERR_FILENO : start_descriptor;
}

static int by_name(const void *left, const void *right) {
  relock_class_t *const *a = left, *const *b = right;
  return strcmp((*a)->name, (*b)->name);
}

static bool was_used(relock_class_t *lock_class) {
  relock_statistics_t s;
  relock_class_statistics(lock_class, &s);
  return s.mutexes || s.held || s.executed;
}

/* All classes, the default one only if it was used, sorted by name. */
static size_t collect(relock_class_t ***classes) {
  size_t count = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next)
    count++;
  *classes = malloc((count + 1) * sizeof **classes);
  if (!*classes)
    return 0;
  count = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next)
    if (c != &relock_default_class || was_used(c))
      (*classes)[count++] = c;
  qsort(*classes, count, sizeof **classes, by_name);
  return count;
}

static void print_row(relock_class_t *lock_class, int width) {
  relock_statistics_t s;
  relock_class_statistics(lock_class, &s);
  dprintf(descriptor(),
          "%-*s %-14s %6" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
          " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n",
          width, lock_class->name, s.algorithm, s.mutexes, s.held, s.executed, s.delegated,
          s.batches, s.contended, s.parked, s.switches, s.wait_ns,
          s.contended ? s.wait_ns / s.contended : 0);
}

static void print_table(relock_class_t *const *classes, size_t count) {
  int width = 5;
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(classes[i]->name) > width)
      width = (int)strlen(classes[i]->name);
  dprintf(descriptor(),
          "relock-stats\n%-*s %-14s %6s %10s %10s %10s %10s %10s %10s %8s %14s %12s\n", width,
          "class", "algorithm", "locks", "held", "executed", "delegated", "batches", "contended",
          "parked", "switches", "wait_ns", "wait_mean_ns");
  for (size_t i = 0; i < count; i++)
    print_row(classes[i], width);
}

__attribute__((destructor)) static void report_at_exit(void) {
  if (!relock_load_relaxed(&relock_stats_timed))
    return;
  relock_classes_lock();
  relock_class_t **classes;
  size_t count = collect(&classes);
  if (to_file)
    relock_stats_file_write(classes, count, descriptor());
  else
    print_table(classes, count);
  free(classes);
  relock_classes_unlock();
}
