/* SPDX-License-Identifier: MIT
 *
 * Counters and the table at exit. A class has its counters in a record that hangs off
 * relock_private[0], made at the first count and kept until the process ends.
 */
#include "stats.h"

#include "class.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t relock_stats_on;

struct counters {
  uint64_t value[RELOCK_COUNTERS];
};

/* When there is no memory for a record; printed by nobody. */
static struct counters lost;

static struct counters *counters_of(relock_class_t *lock_class) {
  relock_class_register(lock_class);
  /* Acquire: pairs with the release below. */
  struct counters *counters = relock_load_acquire(&lock_class->relock_private[0]);
  if (counters)
    return counters;
  counters = calloc(1, sizeof *counters);
  if (!counters)
    return &lost;
  /* Release: pairs with the acquire above. */
  if (!relock_cas_acq_rel(&lock_class->relock_private[0], NULL, (void *)counters)) {
    free(counters);
    counters = relock_load_acquire(&lock_class->relock_private[0]);
  }
  return counters;
}

static void see(relock_mutex_t *mutex) {
  if (relock_load_relaxed(&mutex->relock_private.counted) ||
      !relock_cas_relaxed(&mutex->relock_private.counted, 0, 1))
    return;
  relock_add_relaxed(&counters_of(relock_class_of(mutex))->value[RELOCK_COUNT_LOCKS], 1);
}

void relock_stats_count(relock_mutex_t *mutex, enum relock_counter counter, uint64_t amount) {
  see(mutex);
  relock_add_relaxed(&counters_of(relock_class_of(mutex))->value[counter], amount);
}

void relock_stats_waited(relock_class_t *lock_class, uint64_t nanoseconds, bool parked) {
  struct counters *counters = counters_of(lock_class);
  relock_add_relaxed(&counters->value[RELOCK_COUNT_CONTENDED], 1);
  relock_add_relaxed(&counters->value[RELOCK_COUNT_PARKED], parked);
  relock_add_relaxed(&counters->value[RELOCK_COUNT_WAIT_NS], nanoseconds);
}

void relock_stats_after_fork(void) {
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    struct counters *counters = c->relock_private[0];
    if (counters)
      memset(counters, 0, sizeof *counters);
  }
}

/* Where the table goes: a duplicate of the standard error of the start, since some programs close
 * theirs before they end. */
static int start_descriptor = -1;

void relock_stats_start(void) {
  relock_store_relaxed(&relock_stats_on, 1);
  start_descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
}

static int descriptor(void) {
  return fcntl(start_descriptor, F_GETFD) < 0 ? STDERR_FILENO : start_descriptor;
}

static int by_name(const void *left, const void *right) {
  relock_class_t *const *a = left, *const *b = right;
  return strcmp((*a)->name, (*b)->name);
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
    if (c != &relock_default_class || c->relock_private[0])
      (*classes)[count++] = c;
  qsort(*classes, count, sizeof **classes, by_name);
  return count;
}

static void print_row(relock_class_t *lock_class, int width) {
  static const struct counters none;
  const struct counters *counters =
      lock_class->relock_private[0] ? lock_class->relock_private[0] : &none;
  uint64_t value[RELOCK_COUNTERS];
  for (int i = 0; i < RELOCK_COUNTERS; i++)
    value[i] = relock_load_relaxed(&counters->value[i]);
  uint64_t contended = value[RELOCK_COUNT_CONTENDED];
  dprintf(descriptor(),
          "%-*s %-9s %6" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
          " %10" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n",
          width, lock_class->name, lock_class->relock_ops->name, value[RELOCK_COUNT_LOCKS],
          value[RELOCK_COUNT_HELD], value[RELOCK_COUNT_EXECUTED], value[RELOCK_COUNT_DELEGATED],
          contended, value[RELOCK_COUNT_PARKED], value[RELOCK_COUNT_WAIT_NS],
          contended ? value[RELOCK_COUNT_WAIT_NS] / contended : 0);
}

__attribute__((destructor)) static void print_at_exit(void) {
  if (!relock_load_relaxed(&relock_stats_on))
    return;
  relock_classes_lock();
  relock_class_t **classes;
  size_t count = collect(&classes);
  int width = 5;
  for (size_t i = 0; i < count; i++)
    if ((int)strlen(classes[i]->name) > width)
      width = (int)strlen(classes[i]->name);
  dprintf(descriptor(), "relock-stats\n%-*s %-9s %6s %10s %10s %10s %10s %10s %14s %12s\n", width,
          "class", "algorithm", "locks", "held", "executed", "delegated", "contended", "parked",
          "wait_ns", "wait_mean_ns");
  for (size_t i = 0; i < count; i++)
    print_row(classes[i], width);
  free(classes);
  relock_classes_unlock();
}
