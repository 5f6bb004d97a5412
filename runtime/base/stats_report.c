/* SPDX-License-Identifier: MIT */
#include "stats_report.h"

#include "class.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- taking it ------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right) {
  const struct relock_report_class *a = left, *b = right;
  return strcmp(a->name, b->name);
}

static bool is_shown(const relock_class_t *lock_class, const relock_statistics_t *s) {
  return lock_class != &relock_default_class || s->mutexes || s->held || s->executed;
}

/* Fills the report, which has room for so many classes and bytes of their names, as far as they
 * fit; how many there are. The class that a library brings may vanish with it, its name included,
 * so names are copied. */
static void fill(struct relock_report *report, size_t *classes, size_t *bytes) {
  char *name = (char *)(report->classes + *classes), *end = name + *bytes;
  size_t room = *classes;
  *classes = *bytes = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    size_t size = strlen(c->name) + 1;
    ++*classes;
    *bytes += size;
    struct relock_report_class *entry = &report->classes[report->class_count];
    if (*classes > room || size > (size_t)(end - name))
      continue;
    relock_class_statistics(c, &entry->counts);
    if (!is_shown(c, &entry->counts))
      continue;
    entry->name = memcpy(name, c->name, size);
    name += size;
    report->class_count++;
  }
}

static void add_servers(struct relock_report *report) {
  for (unsigned number = 1; number <= RELOCK_MAX_SERVERS; number++) {
    struct relock_report_server *entry = &report->servers[report->server_count];
    entry->number = number;
    if (relock_server_statistics(number, &entry->counts) == 0 && entry->counts.sections > 0)
      report->server_count++;
  }
}

struct relock_report *relock_report_take(void) {
  size_t classes = 16, bytes = 512;
  for (;;) {
    size_t had_classes = classes, had_bytes = bytes;
    struct relock_report *report =
        calloc(1, sizeof *report + classes * sizeof *report->classes + bytes);
    if (!report)
      return NULL;
    report->classes = (struct relock_report_class *)(report + 1);
    relock_classes_lock();
    fill(report, &classes, &bytes);
    relock_classes_unlock();
    if (classes <= had_classes && bytes <= had_bytes) {
      qsort(report->classes, report->class_count, sizeof *report->classes, by_name);
      add_servers(report);
      return report;
    }
    free(report);
  }
}

/* --- as tables ------------------------------------------------------------------------------- */

/* `rcl:2`, as RELOCK_LOCKS has it. */
static void describe(char *text, size_t size, const relock_statistics_t *s) {
  if (s->server > 1)
    snprintf(text, size, "%s:%u", s->algorithm, s->server);
  else
    snprintf(text, size, "%s", s->algorithm);
}

static void print_class(const struct relock_report_class *entry, int width, int descriptor) {
  const relock_statistics_t *s = &entry->counts;
  char algorithm[32];
  describe(algorithm, sizeof algorithm, s);
  dprintf(descriptor,
          "%-*s %-15s %6" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
          " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n",
          width, entry->name, algorithm, s->mutexes, s->held, s->executed, s->delegated, s->batches,
          s->contended, s->parked, s->switches, s->wait_ns,
          s->contended ? s->wait_ns / s->contended : 0);
}

static void print_server(const struct relock_report_server *entry, int descriptor) {
  const relock_server_statistics_t *s = &entry->counts;
  char misses[24] = "-", cpu[16] = "any";
  if (s->cache_misses)
    snprintf(misses, sizeof misses, "%" PRIu64, s->cache_misses);
  if (s->cpu >= 0)
    snprintf(cpu, sizeof cpu, "%d", s->cpu);
  dprintf(descriptor,
          "%6u %10" PRIu64 " %8.3f %19.3f %9.3f %13" PRIu64 " %11" PRIu64 " %8" PRIu64
          " %12s %7u %5s %4s\n",
          entry->number, s->sections, s->use_rate, s->false_serialization, s->slow_rate,
          s->manager_wakes, s->activations, s->sleeps, misses, s->threads, cpu,
          s->realtime ? "yes" : "no");
}

void relock_report_print(const struct relock_report *report, int descriptor) {
  int width = 5;
  for (size_t i = 0; i < report->class_count; i++)
    if ((int)strlen(report->classes[i].name) > width)
      width = (int)strlen(report->classes[i].name);
  dprintf(descriptor, "relock-stats\n%-*s %-15s %6s %10s %10s %10s %10s %10s %10s %8s %14s %12s\n",
          width, "class", "algorithm", "locks", "held", "executed", "delegated", "batches",
          "contended", "parked", "switches", "wait_ns", "wait_mean_ns");
  for (size_t i = 0; i < report->class_count; i++)
    print_class(&report->classes[i], width, descriptor);
  if (report->server_count == 0)
    return;
  dprintf(descriptor, "\n%6s %10s %8s %19s %9s %13s %11s %8s %12s %7s %5s %4s\n", "server",
          "sections", "use_rate", "false_serialization", "slow_rate", "manager_wakes",
          "activations", "sleeps", "cache_misses", "threads", "cpu", "fifo");
  for (size_t i = 0; i < report->server_count; i++)
    print_server(&report->servers[i], descriptor);
}
