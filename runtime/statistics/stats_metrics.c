/* SPDX-License-Identifier: MIT */
#include "stats_metrics.h"

#include "../base/word.h"
#include "stats_report.h"
#include "stats_text.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static double seconds_per_tick; /* the same in all texts of a process, for counters to go up */
static bool shows_pid;

/* --- label values ---------------------------------------------------------------------------- */

/* How many bytes of UTF-8 begin there; 0: none that are valid. Overlong forms and surrogates are
 * not looked for. */
static size_t utf8_length(const unsigned char *at) {
  const size_t length = *at < 0x80             ? 1
                        : (*at & 0xe0) == 0xc0 ? 2
                        : (*at & 0xf0) == 0xe0 ? 3
                        : (*at & 0xf8) == 0xf0 ? 4
                                               : 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  return length;
}

static bool is_utf8(const char *text) {
  for (size_t length; *text; text += length)
    if ((length = utf8_length((const unsigned char *)text)) == 0)
      return false;
  return true;
}

static void put_escaped(char c) {
  if (c == '\\' || c == '"')
    relock_put_char('\\');
  if (c == '\n')
    relock_put("\\n");
  else
    relock_put_char(c);
}

/* Bytes of something else than UTF-8 are taken for Latin-1. */
static void put_value(const char *text) {
  const bool plain = is_utf8(text);
  for (; *text; text++) {
    const unsigned char byte = (unsigned char)*text;
    if (plain || byte < 0x80) {
      put_escaped(*text);
      continue;
    }
    relock_put_char((char)(0xc0 | byte >> 6));
    relock_put_char((char)(0x80 | (byte & 0x3f)));
  }
}

static void put_label(const char *before, const char *name, const char *value) {
  relock_put("%s%s=\"", before, name);
  put_value(value);
  relock_put_char('"');
}

/* The name of a metric and the labels that all have. */
static void put_name(const char *name) {
  relock_put("relock_%s", name);
  put_label("{", "program", relock_stats_text_program());
  if (shows_pid)
    relock_put(",pid=\"%d\"", relock_stats_text_pid());
}

static void put_head(const char *name, const char *help, const char *type) {
  relock_put("# HELP relock_%s %s\n# TYPE relock_%s %s\n", name, help, name, type);
}

/* --- lock classes ---------------------------------------------------------------------------- */

typedef const struct relock_report_class entry_t;

/* Two libraries may have classes of the same name, which are next to each other in the report. */
static bool is_another(entry_t *entry, entry_t *next) {
  return !next || strcmp(entry->name, next->name) != 0;
}

static uint64_t mutexes(entry_t *e) { return e->counts.mutexes; }
static uint64_t acquisitions(entry_t *e) { return e->counts.held + e->counts.executed; }
static uint64_t sections(entry_t *e) { return e->counts.executed; }
static uint64_t delegated(entry_t *e) { return e->counts.delegated; }
static uint64_t batches(entry_t *e) { return e->counts.batches; }
static uint64_t contended(entry_t *e) { return e->counts.contended; }
static uint64_t parked(entry_t *e) { return e->counts.parked; }
static uint64_t switches(entry_t *e) { return e->counts.switches; }
static uint64_t try_failures(entry_t *e) { return e->times.all.trylock_failures; }
static uint64_t timeouts(entry_t *e) { return e->times.all.timeouts; }
static uint64_t condition_waits(entry_t *e) { return e->times.all.idle.count; }
static uint64_t wait_ticks(entry_t *e) { return e->times.all.wait.total; }
static uint64_t hold_ticks(entry_t *e) { return e->times.all.hold.total; }

static uint64_t holds(entry_t *e) {
  uint64_t sum = 0;
  for (int d = 0; d < RELOCK_DISTANCES; d++)
    sum += e->times.all.came_from[d];
  return sum;
}

static const struct {
  const char *name, *help;
  uint64_t (*value)(entry_t *entry);
  bool is_time; /* in ticks */
} of_classes[] = {
    {"mutexes_total", "Mutexes that were initialised or used.", mutexes, false},
    {"acquisitions_total", "Acquisitions of mutexes, by holders and by sections.", acquisitions,
     false},
    {"sections_total", "Sections that were passed to relock_execute and its like.", sections,
     false},
    {"delegated_sections_total", "Sections that another thread ran.", delegated, false},
    {"batches_total", "Times that a thread ran sections of others.", batches, false},
    {"contended_acquisitions_total", "Acquisitions that had to wait.", contended, false},
    {"parked_acquisitions_total", "Acquisitions that slept while they waited.", parked, false},
    {"wait_seconds_total", "Time waited for mutexes, of waits that are over.", wait_ticks, true},
    {"holds_total", "Holds of mutexes that are over.", holds, false},
    {"hold_seconds_total", "Time that mutexes were held; an estimate where not all are timed.",
     hold_ticks, true},
    {"trylock_failures_total", "Trylocks that found the mutex taken.", try_failures, false},
    {"timeouts_total", "Timed acquisitions that gave up.", timeouts, false},
    {"condition_waits_total", "Waits on condition variables that are over.", condition_waits,
     false},
    {"algorithm_switches_total", "Changes of adaptive_rcl to a server and back.", switches, false},
};

static void put_sample(entry_t *entry, const char *name, uint64_t value, bool is_time) {
  put_name(name);
  put_label(",", "class", entry->name);
  relock_put("} ");
  if (is_time)
    relock_put_number((double)value * seconds_per_tick);
  else
    relock_put("%" PRIu64, value);
  relock_put_char('\n');
}

static void put_metric(const struct relock_report *report, size_t i) {
  uint64_t sum = 0;
  if (!report->classes)
    return;
  put_head(of_classes[i].name, of_classes[i].help, "counter");
  for (entry_t *c = report->classes; c; c = c->next) {
    sum += of_classes[i].value(c);
    if (!is_another(c, c->next))
      continue;
    put_sample(c, of_classes[i].name, sum, of_classes[i].is_time);
    sum = 0;
  }
}

/* Which algorithm a class has may change, and is not among the labels of its counters: they would
 * begin anew. Of several of one name it is the last one's. */
static void put_algorithms(const struct relock_report *report) {
  if (report->classes)
    put_head("class_info", "The algorithm of a lock class; of rcl, the server.", "gauge");
  for (entry_t *c = report->classes; c; c = c->next) {
    if (!is_another(c, c->next))
      continue;
    put_name("class_info");
    put_label(",", "class", c->name);
    put_label(",", "algorithm", c->counts.algorithm);
    if (c->counts.server)
      relock_put(",server=\"%u\"", c->counts.server);
    relock_put("} 1\n");
  }
}

/* --- servers and the process ----------------------------------------------------------------- */

typedef const relock_server_statistics_t server_t;

static uint64_t server_sections(server_t *s) { return s->sections; }
static uint64_t server_passes(server_t *s) { return s->passes; }
static uint64_t server_active(server_t *s) { return s->active_passes; }
static uint64_t server_sleeps(server_t *s) { return s->sleeps; }
static uint64_t server_threads(server_t *s) { return s->threads; }

static const struct {
  const char *name, *help, *type;
  uint64_t (*value)(server_t *server);
} of_servers[] = {
    {"server_sections_total", "Sections that a server ran.", "counter", server_sections},
    {"server_passes_total", "Passes of a server over its clients.", "counter", server_passes},
    {"server_active_passes_total", "Passes that found a section.", "counter", server_active},
    {"server_sleeps_total", "Times that a server slept for want of requests.", "counter",
     server_sleeps},
    {"server_threads", "Threads that serve, or are in sections.", "gauge", server_threads},
};

static void put_servers(const struct relock_report *report) {
  if (report->server_count == 0)
    return;
  for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; i++) {
    put_head(of_servers[i].name, of_servers[i].help, of_servers[i].type);
    for (size_t n = 0; n < report->server_count; n++) {
      put_name(of_servers[i].name);
      relock_put(",server=\"%u\"} %" PRIu64 "\n", report->servers[n].number,
                 of_servers[i].value(&report->servers[n].counts));
    }
  }
}

static void put_barriers(void) {
  put_head("membarriers_total", "Barriers that were made on all processors.", "counter");
  put_name("membarriers_total");
  relock_put("} %" PRIu64 "\n", relock_word_barriers().made);
}

const char *relock_stats_metrics(const struct relock_report *report, bool with_pid,
                                 size_t *length) {
  if (seconds_per_tick == 0)
    seconds_per_tick = 1 / (double)relock_times_ticks_per_second();
  shows_pid = with_pid;
  relock_text_begin();
  put_algorithms(report);
  for (size_t i = 0; i < sizeof of_classes / sizeof *of_classes; i++)
    put_metric(report, i);
  put_servers(report);
  put_barriers();
  return relock_text_end(length);
}
