/* SPDX-License-Identifier: MIT */
#include "stats_report.h"

#include "../base/class.h"
#include "../base/counters.h"
#include "../base/guard.h"
#include "../base/os.h"
#include "../base/word.h"
#include "../locks/algorithm.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- taking it ------------------------------------------------------------------------------- */

void relock_stats_of_class(const relock_class_t *lock_class, relock_statistics_t *statistics) {
  uint64_t sum[RELOCK_COUNTERS];
  relock_stats_add_up(lock_class->relock_index, sum);
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

/* By name. */
static void enlist(struct relock_report *report, struct relock_report_class *entry) {
  struct relock_report_class **link = &report->classes;
  while (*link && strcmp((*link)->name, entry->name) <= 0)
    link = &(*link)->next;
  entry->next = *link;
  *link = entry;
}

static bool is_shown(const relock_class_t *lock_class, const relock_statistics_t *s) {
  return lock_class != &relock_default_class || s->mutexes || s->held || s->executed;
}

/* Fills the report, behind which there is room for so many classes and bytes of their names, as far
 * as they fit; how many there are. The class that a library brings may vanish with it, its name
 * included, so names are copied. */
static void fill(struct relock_report *report, size_t *classes, size_t *bytes) {
  struct relock_report_class *entry = (struct relock_report_class *)(report + 1);
  char *name = (char *)(entry + *classes), *end = name + *bytes;
  size_t room = *classes;
  *classes = *bytes = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    size_t size = strlen(c->name) + 1;
    ++*classes;
    *bytes += size;
    if (*classes > room || size > (size_t)(end - name))
      continue;
    relock_stats_of_class(c, &entry->counts);
    if (!is_shown(c, &entry->counts))
      continue;
    memset(&entry->times, 0, sizeof entry->times);
    if (relock_load_relaxed(&relock_stats_timed))
      relock_times_add_up(c->relock_index, &entry->times);
    entry->recorded_as = relock_times_recorded_as(c->relock_index);
    entry->name = memcpy(name, c->name, size);
    name += size;
    enlist(report, entry++);
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

static struct relock_report *report;
static size_t room_for_classes = 64, room_for_names = 4096;

static bool has_room(void) {
  if (!report)
    report = relock_os->reserve(
        sizeof *report + room_for_classes * sizeof(struct relock_report_class) + room_for_names);
  return report != NULL;
}

void relock_report_prepare(void) { has_room(); }

/* False: the list of classes is being used, and is not waited for. */
static bool take(bool waits, struct relock_report **taken) {
  *taken = NULL;
  while (has_room()) {
    size_t classes = room_for_classes, bytes = room_for_names;
    memset(report, 0, sizeof *report);
    if (waits)
      relock_guard_take(RELOCK_GUARD_CLASSES);
    else if (!relock_guard_try(RELOCK_GUARD_CLASSES))
      return false;
    fill(report, &classes, &bytes);
    if (waits)
      relock_guard_release(RELOCK_GUARD_CLASSES);
    else
      relock_guard_release_quietly(RELOCK_GUARD_CLASSES);
    if (classes <= room_for_classes && bytes <= room_for_names) {
      relock_times_add_up_sections(&report->sections);
      add_servers(report);
      *taken = report;
      return true;
    }
    room_for_classes = classes > room_for_classes ? 2 * classes : room_for_classes;
    room_for_names = bytes > room_for_names ? 2 * bytes : room_for_names;
    report = NULL;
  }
  return true;
}

struct relock_report *relock_report_take(void) {
  struct relock_report *taken;
  take(true, &taken);
  return taken;
}

bool relock_report_take_if_free(struct relock_report **taken) { return take(false, taken); }

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

static void print_servers(const struct relock_report *report, int descriptor) {
  if (report->server_count == 0)
    return;
  dprintf(descriptor, "\n%6s %10s %8s %19s %9s %13s %11s %8s %12s %7s %5s %4s\n", "server",
          "sections", "use_rate", "false_serialization", "slow_rate", "manager_wakes",
          "activations", "sleeps", "cache_misses", "threads", "cpu", "fifo");
  for (size_t i = 0; i < report->server_count; i++)
    print_server(&report->servers[i], descriptor);
}

static bool was_used(const relock_statistics_t *s) {
  return s->held || s->executed || s->contended;
}

/* A program whose tools share one table of locks has most of its classes for other tools. */
static void print_unused(size_t unused, int descriptor) {
  if (unused)
    dprintf(descriptor, "\n%zu lock class%s never acquired\n", unused,
            unused == 1 ? " was" : "es were");
}

void relock_report_print(const struct relock_report *report, int descriptor) {
  int width = 5;
  size_t unused = 0;
  for (const struct relock_report_class *c = report->classes; c; c = c->next)
    if (was_used(&c->counts) && (int)strlen(c->name) > width)
      width = (int)strlen(c->name);
  dprintf(descriptor, "relock-stats\n%-*s %-15s %6s %10s %10s %10s %10s %10s %10s %8s %14s %12s\n",
          width, "class", "algorithm", "locks", "held", "executed", "delegated", "batches",
          "contended", "parked", "switches", "wait_ns", "wait_mean_ns");
  for (const struct relock_report_class *c = report->classes; c; c = c->next)
    if (was_used(&c->counts))
      print_class(c, width, descriptor);
    else
      unused++;
  print_unused(unused, descriptor);
  print_servers(report, descriptor);
  const struct relock_barriers barriers = relock_word_barriers();
  if (barriers.made)
    dprintf(descriptor, "\nmembarriers %" PRIu64 ", too many %" PRIu64 " times\n", barriers.made,
            barriers.too_many);
}
