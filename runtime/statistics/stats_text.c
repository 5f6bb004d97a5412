/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stats_text.h"

#include "../base/atomic.h"
#include "../base/os.h"
#include "../base/thread.h"
#include "stats_report.h"
#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t start_ns;
static pid_t pid, start_pid;
static char command[4096], executable[4096], model[512];
static size_t command_length;

static double ns_per_tick;

/* --- what it says of the program and the machine --------------------------------------------- */

void relock_stats_text_start(void) {
  relock_store_relaxed(&start_ns, relock_os->now_ns());
  start_pid = pid = getpid();
}

void relock_stats_text_after_fork(void) { pid = getpid(); }

int relock_stats_text_pid(void) { return (int)pid; }

const char *relock_stats_text_program(void) {
  const char *slash = strrchr(executable, '/');
  return slash ? slash + 1 : executable;
}

/* Without stdio, which may use locks of ours. */
static size_t read_file(const char *file, char *text, size_t size) {
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  ssize_t length = descriptor >= 0 ? read(descriptor, text, size) : 0;
  if (descriptor >= 0)
    close(descriptor);
  return length > 0 ? (size_t)length : 0;
}

static void read_model(void) {
  static char text[4096];
  text[read_file("/proc/cpuinfo", text, sizeof text - 1)] = '\0';
  char *line = strstr(text, "model name"), *colon = line ? strchr(line, ':') : NULL;
  if (colon && colon[1]) {
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(model, sizeof model, "%s", colon + 2);
  } else {
    strcpy(model, "unknown");
  }
}

void relock_stats_text_prepare(void) {
  int saved = errno;
  command_length = read_file("/proc/self/cmdline", command, sizeof command);
  ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  executable[length > 0 ? length : 0] = '\0';
  read_model();
  relock_text_prepare();
  errno = saved;
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_characters(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < ' ' || c >= 0x7f) {
      relock_put("\\u%04x", c); /* bytes above are taken for Latin-1 */
      continue;
    }
    if (c == '"' || c == '\\')
      relock_put_char('\\');
    relock_put_char((char)c);
  }
}

static void put_string(const char *text, size_t length) {
  relock_put_char('"');
  put_characters(text, length);
  relock_put_char('"');
}

static void put_command(void) {
  for (size_t at = 0; at < command_length;) {
    size_t word = strnlen(command + at, command_length - at);
    relock_put("%s", at ? ", " : "");
    put_string(command + at, word);
    at += word + 1;
  }
}

static void put_rate(const char *name, double rate) {
  relock_put(", \"%s\": ", name);
  relock_put_number(rate);
}

/* --- times ----------------------------------------------------------------------------------- */

static uint64_t ns(uint64_t ticks) { return (uint64_t)((double)ticks * ns_per_tick + 0.5); }

/* The middle of the bucket in which it lies. */
static uint64_t percentile(const struct relock_distribution *d, unsigned percent) {
  uint64_t count = 0, seen = 0;
  for (unsigned i = 0; i < RELOCK_BUCKETS; i++)
    count += d->buckets[i];
  uint64_t rank = (count * percent + 99) / 100;
  for (unsigned i = 0; count && i < RELOCK_BUCKETS; i++) {
    seen += d->buckets[i];
    if (seen < rank)
      continue;
    uint64_t floor = relock_bucket_floor(i);
    bool wide = i >= RELOCK_BUCKET_SMALL && i + 1 < RELOCK_BUCKETS;
    uint64_t middle = wide ? floor + (relock_bucket_floor(i + 1) - floor) / 2 : floor;
    return ns(middle < d->max ? middle : d->max);
  }
  return 0;
}

/* What stands for so many, of which there are so many. */
static uint64_t scaled(uint64_t number, uint64_t stands_for, uint64_t count) {
  if (stands_for == count || !stands_for)
    return number;
  return (uint64_t)((double)number * ((double)count / (double)stands_for) + 0.5);
}

/* There is no library of mathematics here. */
static double square_root(double square) {
  double root = square > 1 ? square : 1;
  for (int i = 0; square > 0 && i < 100; i++)
    root = (root + square / root) / 2;
  return square > 0 ? root : 0;
}

static double likely(const struct relock_distribution *d, uint64_t count) {
  return relock_likely_total(&d->chance, d->count, d->total, count);
}

static void put_timed(const struct relock_distribution *d, uint64_t count) {
  const uint64_t timed = d->values < count ? d->values : count;
  relock_put(", \"timed\": %" PRIu64 ", \"relative_standard_error\": ", timed);
  if (timed != count && relock_chosen(&d->chance, d->count, d->values) < RELOCK_CHOSEN_LEAST)
    relock_put("null");
  else
    relock_put_number(
        timed == count ? 0 : square_root(relock_relative_variance(&d->chance, likely(d, count))));
}

static void put_times(const struct relock_distribution *d, uint64_t count) {
  const uint64_t total = ns((uint64_t)(likely(d, count) + 0.5));
  relock_put(", \"total_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64 ", \"p50_ns\": %" PRIu64
             ", \"p90_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64
             ", \"histogram\": [",
             total, count ? total / count : 0, percentile(d, 50), percentile(d, 90),
             percentile(d, 99), ns(d->max));
  const char *comma = "";
  for (unsigned i = 0; i < RELOCK_BUCKETS; i++) {
    if (!d->buckets[i])
      continue;
    const uint64_t all = scaled(d->buckets[i], d->count, count);
    relock_put("%s[%" PRIu64 ", %" PRIu64 "]", comma, ns(relock_bucket_floor(i)), all ? all : 1);
    comma = ", ";
  }
  relock_put("]}");
}

static void put_waits(const struct relock_distribution *d) {
  relock_put(",\n   \"wait\": {\"count\": %" PRIu64, d->count);
  put_times(d, d->count);
}

/* Of so many, by those that were timed: the mean and the shape of these. */
static void put_holds(const struct relock_distribution *d, uint64_t count) {
  relock_put(",\n   \"hold\": {\"count\": %" PRIu64, count);
  put_timed(d, count);
  put_times(d, count);
}

/* All that are over. */
static uint64_t holds(const struct relock_class_times *times) {
  uint64_t sum = 0;
  for (int d = 0; d < RELOCK_DISTANCES; d++)
    sum += times->came_from[d];
  return sum;
}

/* --- places ---------------------------------------------------------------------------------- */

static void put_offset(const char *file, uintptr_t offset) {
  const char *path = file && *file ? file : executable;
  relock_put_char('"');
  put_characters(path, strlen(path));
  relock_put("+0x%" PRIxPTR "\"", offset);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* the C library has _dl_find_object(), from 2.35 on: for          \
                                   handlers, too */

bool relock_stats_text_has_places(bool in_handler) {
  (void)in_handler;
  return true;
}

static bool put_found(uintptr_t address) {
  struct dl_find_object object;
  if (_dl_find_object((void *)address, &object) != 0)
    return false;
  const struct link_map *map = object.dlfo_link_map;
  put_offset(map->l_name, address - map->l_addr);
  return true;
}

#else

/* dl_iterate_phdr() takes a lock. */
bool relock_stats_text_has_places(bool in_handler) { return !in_handler; }

struct place {
  uintptr_t address;
  bool found;
};

static int put_if_in(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct place *place = context;
  uintptr_t offset = place->address - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum && !place->found; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    place->found = segment->p_type == PT_LOAD && offset - segment->p_vaddr < segment->p_memsz;
  }
  if (place->found)
    put_offset(info->dlpi_name, offset);
  return place->found;
}

static bool put_found(uintptr_t address) {
  struct place place = {address, false};
  dl_iterate_phdr(put_if_in, &place);
  return place.found;
}

#endif

static void put_place(uintptr_t address) {
  if (!put_found(address))
    relock_put("\"unknown+0x%" PRIxPTR "\"", address);
}

static bool is_costlier(const struct relock_site *a, const struct relock_site *b) {
  return a->wait != b->wait ? a->wait > b->wait : a->hold > b->hold;
}

/* Takes the costliest out of those that are left. */
static const struct relock_site *next_site(const struct relock_times_sum *times, uint64_t *left) {
  const struct relock_site *next = NULL;
  for (uint32_t i = 0; i < times->site_count; i++)
    if (*left >> i & 1 && (!next || is_costlier(&times->sites[i], next)))
      next = &times->sites[i];
  if (next)
    *left &= ~((uint64_t)1 << (next - times->sites));
  return next;
}

static void put_site(const struct relock_site *site, const struct relock_class_times *times) {
  relock_put("    {\"stack\": [");
  if (site->section) {
    put_place(site->section);
    relock_put(", ");
  }
  put_place(site->caller);
  relock_put(
      "], \"samples\": %" PRIu64 ", \"acquisitions\": %" PRIu64 ", \"contended\": %" PRIu64
      ", \"wait_ns\": %" PRIu64 ", \"hold_ns\": %" PRIu64 "}",
      site->acquisitions, site->acquisitions, site->contended, ns(site->wait),
      ns(scaled(site->hold, times->hold.total, (uint64_t)likely(&times->hold, holds(times)))));
}

_Static_assert(2 * RELOCK_SITES_SHOWN <= 63, "one bit for each");

static void put_sites(const struct relock_times_sum *times) {
  uint64_t left = ((uint64_t)1 << times->site_count) - 1;
  uint32_t shown = 0;
  const struct relock_site *site;
  relock_put(",\n   \"sites\": [\n");
  for (; shown < RELOCK_SITES_SHOWN && (site = next_site(times, &left)); shown++) {
    relock_put("%s", shown ? ",\n" : "");
    put_site(site, &times->all);
  }
  relock_put("],\n   \"sites_omitted\": %u", times->site_count - shown + times->sites_omitted);
}

/* --- classes and servers --------------------------------------------------------------------- */

static void put_class_start(const struct relock_report_class *entry, const char *prefix,
                            const char *primitive) {
  const size_t length = strlen(entry->name);
  relock_put("  {\"name\": ");
  put_string(entry->name, length);
  relock_put(", \"key\": \"%s", prefix);
  put_characters(entry->name, length);
  relock_put("\", \"primitive\": \"%s\", \"kind\": \"class\", \"module\": \"\", \"file\": \"\", "
             "\"line\": 0,\n",
             primitive);
}

/* As of pthread mutexes, one that is taken back after a wait on a condition variable is not
 * acquired anew, and one that its thread has already is. */
static uint64_t acquisitions(const struct relock_report_class *entry) {
  const struct relock_class_times *times = &entry->times.all;
  uint64_t all = entry->counts.held + entry->counts.executed + times->reentries;
  return all - (times->idle.count < all ? times->idle.count : all);
}

static uint64_t handovers(const struct relock_class_times *times) {
  return holds(times) - times->came_from[RELOCK_SAME_THREAD];
}

static void put_distances(const struct relock_class_times *times) {
  static const char *const names[] = {"same_thread", "same_core",  "same_cache",
                                      "same_node",   "other_node", "unknown"};
  _Static_assert(sizeof names / sizeof *names == RELOCK_DISTANCES, "a name for each");
  relock_put(",\n   \"came_from\": {");
  for (int d = 0; d < RELOCK_DISTANCES; d++)
    relock_put("%s\"%s\": %" PRIu64, d ? ", " : "", names[d], times->came_from[d]);
  relock_put("}");
}

static void put_waiters(const struct relock_class_times *times) {
  const uint64_t waits = times->wait.count;
  relock_put(",\n   \"waiters\": {\"mean\": ");
  relock_put_number(waits ? (double)times->waiters / (double)waits : 0);
  relock_put(", \"max\": %" PRIu64 "}", times->waiters_max);
}

static void put_class(const struct relock_report_class *entry, bool places) {
  const relock_statistics_t *s = &entry->counts;
  const struct relock_class_times *times = &entry->times.all;
  put_class_start(entry, "", "mutex");
  relock_put("   \"objects\": %" PRIu64 ", \"held_at_end\": 0, \"acquisitions\": %" PRIu64
             ", \"contended\": %" PRIu64 ", \"handovers\": %" PRIu64 ",\n"
             "   \"trylock_failures\": %" PRIu64 ", \"timeouts\": %" PRIu64
             ", \"condition_waits\": %" PRIu64 ", \"reentries\": %" PRIu64,
             s->mutexes, acquisitions(entry), s->contended, handovers(times),
             times->trylock_failures, times->timeouts, times->idle.count, times->reentries);
  put_waits(&times->wait);
  put_holds(&times->hold, holds(times));
  put_waiters(times);
  put_distances(times);
  relock_put(",\n   \"librelock\": {\"algorithm\": \"%s\", \"held\": %" PRIu64
             ", \"executed\": %" PRIu64 ", \"delegated\": %" PRIu64 ", \"batches\": %" PRIu64
             ", \"parked\": %" PRIu64 ", \"switches\": %" PRIu64,
             s->algorithm, s->held, s->executed, s->delegated, s->batches, s->parked, s->switches);
  if (s->server)
    relock_put(", \"server\": %u", s->server);
  if (entry->recorded_as)
    relock_put(", \"recorded_as\": %u", entry->recorded_as);
  relock_put("}");
  if (places && entry->times.site_count)
    put_sites(&entry->times);
  relock_put("}");
}

static bool was_waited_with(const struct relock_report_class *entry) {
  return entry->times.all.idle.count || entry->times.waiting;
}

/* Waits on condition variables, by the class of the mutex: they have none of their own. */
static void put_conditions(const struct relock_report_class *entry) {
  const struct relock_distribution *idle = &entry->times.all.idle;
  static const struct relock_distribution none;
  put_class_start(entry, "conditions of ", "condition");
  relock_put("   \"objects\": 0, \"held_at_end\": 0, \"acquisitions\": %" PRIu64
             ", \"contended\": 0, \"handovers\": 0,\n   \"trylock_failures\": 0, \"timeouts\": 0, "
             "\"condition_waits\": 0, \"reentries\": 0",
             idle->count + entry->times.waiting);
  put_waits(idle);
  put_holds(&none, 0);
  relock_put("}");
}

static void put_server(const struct relock_report_server *entry) {
  const relock_server_statistics_t *s = &entry->counts;
  relock_put("  {\"number\": %u, \"sections\": %" PRIu64 ", \"passes\": %" PRIu64
             ", \"active_passes\": %" PRIu64,
             entry->number, s->sections, s->passes, s->active_passes);
  put_rate("use_rate", s->use_rate);
  put_rate("false_serialization", s->false_serialization);
  put_rate("slow_rate", s->slow_rate);
  relock_put(",\n   \"manager_wakes\": %" PRIu64 ", \"activations\": %" PRIu64
             ", \"sleeps\": %" PRIu64 ", \"cache_misses\": ",
             s->manager_wakes, s->activations, s->sleeps);
  if (s->cache_misses)
    relock_put("%" PRIu64, s->cache_misses);
  else
    relock_put("null");
  relock_put(", \"threads\": %u, \"cpu\": ", s->threads);
  if (s->cpu >= 0)
    relock_put("%d", s->cpu);
  else
    relock_put("null");
  relock_put(", \"fifo\": %s}", s->realtime ? "true" : "false");
}

/* --- the whole ------------------------------------------------------------------------------- */

static void put_overhead(const struct relock_report *report) {
  const double per_pair = (double)relock_times_cost() / 1024 * ns_per_tick;
  const double untimed = (double)relock_times_untimed_cost() / 1024 * ns_per_tick;
  uint64_t all = 0, over = 0, timed = 0;
  for (const struct relock_report_class *c = report->classes; c; c = c->next) {
    const struct relock_class_times *times = &c->times.all;
    all += acquisitions(c);
    over += holds(times);
    timed += times->hold.values < holds(times) ? times->hold.values : holds(times);
  }
  const uint64_t others = over - timed < all ? over - timed : all;
  relock_put(" \"overhead\": {\"per_acquisition_ns\": ");
  relock_put_number(per_pair);
  relock_put(", \"untimed_acquisition_ns\": ");
  relock_put_number(untimed);
  relock_put(", \"holds\": %" PRIu64 ", \"holds_timed\": %" PRIu64
             ", \"plain_pair_ns\": 0, \"hold_bias_ns\": ",
             over, timed);
  relock_put_number((double)relock_times_bias() / 1024 * ns_per_tick);
  relock_put(", \"total_ns\": %" PRIu64 "},\n",
             (uint64_t)(per_pair * (double)(all - others) + untimed * (double)others));
}

static void put_profile(const struct relock_report *report, bool running, bool places) {
  relock_put("{\n \"format\": \"relock-profile\", \"version\": 1, \"source\": \"librelock\",\n"
             " \"program\": {\"command\": [");
  put_command();
  relock_put("], \"executable\": ");
  put_string(executable, strlen(executable));
  relock_put(", \"pid\": %d, \"forked\": %s, \"ended\": \"%s\", \"status\": 0},\n", (int)pid,
             pid == start_pid ? "false" : "true", running ? "running" : "exit");
  relock_put(" \"machine\": {\"model\": ");
  put_string(model, strlen(model));
  uint32_t threads = relock_threads_end();
  relock_put(", \"processors\": %u, \"ticks_per_second\": %" PRIu64 "},\n", relock_os->cpus(),
             relock_times_ticks_per_second());
  relock_put(" \"duration_ns\": %" PRIu64 ", \"threads\": %u, \"threads_at_once\": %u,\n"
             " \"thread_ns\": 0, \"section_ns\": %" PRIu64 ", \"sections\": %" PRIu64
             ", \"section_share\": 0,\n"
             " \"foreign_releases\": %" PRIu64 ",\n",
             relock_os->now_ns() - relock_load_relaxed(&start_ns), threads, threads,
             ns(report->sections.ticks), report->sections.count, report->sections.foreign_releases);
  put_overhead(report);
  relock_put(" \"dropped\": {\"mutex_operations\": 0, \"times\": %" PRIu64 ", \"threads\": 0, "
             "\"nested_operations\": 0, \"modules\": 0, \"processes\": 0},\n"
             " \"classes\": [\n",
             relock_times_dropped());
  for (const struct relock_report_class *c = report->classes; c; c = c->next) {
    put_class(c, places);
    relock_put("%s", c->next ? ",\n" : "");
  }
  relock_put("\n ],\n \"waits\": [");
  const char *comma = "\n";
  for (const struct relock_report_class *c = report->classes; c; c = c->next) {
    if (!was_waited_with(c))
      continue;
    relock_put("%s", comma);
    put_conditions(c);
    comma = ",\n";
  }
  relock_put("]");
  for (size_t i = 0; i < report->server_count; i++) {
    relock_put("%s", i ? ",\n" : ",\n \"servers\": [\n");
    put_server(&report->servers[i]);
  }
  relock_put(report->server_count ? "\n ]\n}\n" : "\n}\n");
}

const char *relock_stats_text(const struct relock_report *report, bool running, bool places,
                              size_t *length) {
  ns_per_tick = 1e9 / (double)relock_times_ticks_per_second();
  relock_text_begin();
  put_profile(report, running, places);
  return relock_text_end(length);
}
