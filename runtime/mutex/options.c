/* SPDX-License-Identifier: MIT
 *
 * Reading of the environment. Of RELOCK_LOCKS, which is looked at once per class, there is a copy:
 * programs write over their environment, to have a title for their processes.
 */
#define _GNU_SOURCE
#include "options.h"

#include "../base/atomic.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/topology.h"
#include "../locks/algorithm.h"
#include "../statistics/stats_output.h"
#include "../statistics/stats_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USAGE "RELOCK_LOCKS is a list class=algorithm,...; the algorithms are: %s"

static const char *locks_text = "";
static uint32_t cluster_count, balanced_servers;
static uint32_t options_read;

/* Parses the entry at `at`; null at the end of the list. */
static const char *parse(const char *at, struct relock_choice *choice) {
  while (*at == ',' || *at == ' ')
    at++;
  if (!*at)
    return NULL;
  const char *end = at + strcspn(at, ",");
  const char *equals = memchr(at, '=', (size_t)(end - at));
  if (!equals || equals == at)
    relock_usage_error("RELOCK_LOCKS: '%.*s' is not of the form class=algorithm; " USAGE,
                       (int)(end - at), at, relock_algorithms());
  size_t length = (size_t)(end - equals - 1);
  while (length > 0 && equals[length] == ' ')
    length--;
  choice->algorithm = relock_algorithm_parse(equals + 1, length, &choice->server);
  if (!choice->algorithm)
    relock_usage_error("RELOCK_LOCKS: unknown algorithm '%.*s' in '%.*s'; rcl and adaptive_rcl may "
                       "have a server from 1 to %d, rcl:2; the algorithms are: %s",
                       (int)length, equals + 1, (int)(end - at), at, RELOCK_MAX_SERVERS,
                       relock_algorithms());
  choice->name = at;
  choice->name_length = (size_t)(equals - at);
  return end;
}

struct relock_tuning relock_tuning = {
#define RELOCK_TUNABLE(name, value, least, greatest) .name = value,
#include "../base/tunables.def"
};

static const struct tunable {
  const char *name;
  uint32_t *value;
  uint32_t least, greatest;
} tunables[] = {
#define RELOCK_TUNABLE(name, value, least, greatest) {#name, &relock_tuning.name, least, greatest},
#include "../base/tunables.def"
};
static const char tunable_names[] =
#define RELOCK_TUNABLE(name, value, least, greatest) " " #name
#include "../base/tunables.def"
    ;

static const struct tunable *find_tunable(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof tunables / sizeof *tunables; i++)
    if (strlen(tunables[i].name) == length && memcmp(tunables[i].name, name, length) == 0)
      return &tunables[i];
  return NULL;
}

static void read_tuning(const char *at) {
  while (*at) {
    size_t length = strcspn(at, ",");
    size_t name_length = strcspn(at, "=,");
    const struct tunable *tunable = find_tunable(at, name_length);
    if (!tunable || name_length == length)
      relock_usage_error("RELOCK_TUNE: '%.*s' is not of the form name=value; the names are:%s",
                         (int)length, at, tunable_names);
    char *end;
    unsigned long value = strtoul(at + name_length + 1, &end, 10);
    if (end != at + length || end == at + name_length + 1 || value < tunable->least ||
        value > tunable->greatest)
      relock_usage_error("RELOCK_TUNE: '%.*s': the value must be a number from %u to %u",
                         (int)length, at, tunable->least, tunable->greatest);
    *tunable->value = (uint32_t)value;
    at += length + (at[length] == ',');
  }
}

const char *relock_option_first(struct relock_choice *choice) { return parse(locks_text, choice); }

const char *relock_option_next(const char *position, struct relock_choice *choice) {
  return parse(position, choice);
}

const struct relock_algorithm *relock_option_algorithm(const char *class_name, unsigned *server) {
  struct relock_choice choice, named = {0}, every = {0};
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice)) {
    if (choice.name_length == 1 && choice.name[0] == '*')
      every = choice;
    else if (strlen(class_name) == choice.name_length &&
             memcmp(choice.name, class_name, choice.name_length) == 0)
      named = choice;
  }
  *server = named.algorithm ? named.server : every.server;
  return named.algorithm ? named.algorithm : every.algorithm;
}

/* Two more than the processor, so that 0 is NOT_GIVEN and 1 is any. */
static uint32_t server_cpu[RELOCK_MAX_SERVERS];

int relock_option_server_cpu(unsigned server) {
  return (int)relock_load_relaxed(&server_cpu[server - 1]) + RELOCK_CPU_NOT_GIVEN;
}

static void read_servers(const char *at) {
  while (*at) {
    size_t length = strcspn(at, ",");
    char *end;
    unsigned long number = strtoul(at, &end, 10), cpu = 0;
    bool valid = end > at && *end == '=' && number >= 1 && number <= RELOCK_MAX_SERVERS;
    bool any = valid && (size_t)(at + length - end) == 4 && strncmp(end, "=any", 4) == 0;
    if (valid && !any) {
      valid = strncmp(end, "=cpu:", 5) == 0 && end[5] >= '0' && end[5] <= '9';
      cpu = valid ? strtoul(end + 5, &end, 10) : 0;
      valid = valid && end == at + length && cpu < RELOCK_MAX_CPUS;
    }
    if (!valid)
      relock_usage_error(
          "RELOCK_SERVERS: '%.*s' is not of the form N=cpu:C or N=any, with a server "
          "N from 1 to %d and a processor C",
          (int)length, at, RELOCK_MAX_SERVERS);
    relock_store_relaxed(&server_cpu[number - 1], any ? 1u : (uint32_t)cpu + 2);
    at += length + (at[length] == ',');
  }
}

static void read_number(const char *variable, uint32_t greatest, uint32_t *number) {
  const char *text = secure_getenv(variable);
  if (!text || !*text)
    return;
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  if (*end || value < 1 || value > greatest)
    relock_usage_error("%s: '%s' is not a number from 1 to %u", variable, text, greatest);
  relock_store_relaxed(number, (uint32_t)value);
}

static void read_locks(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = relock_os->reserve(size);
  if (copy)
    relock_store_relaxed(&locks_text, memcpy(copy, text, size));
}

void relock_options_read(void) {
  /* Acquire: pairs with the release below. Several threads may read; they store the same. */
  if (relock_load_acquire(&options_read))
    return;
  const char *locks = secure_getenv("RELOCK_LOCKS");
  if (locks)
    read_locks(locks);
  struct relock_choice choice;
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice))
    continue; /* parsing ends the program at a wrong entry */

  relock_stats_text_start();
  const char *stats = secure_getenv("RELOCK_STATS");
  bool to_file = stats && strpbrk(stats, "./"); /* so that a mistyped word is not a file */
  uint32_t period = 0;
  read_number("RELOCK_STATS_EVERY", 1000000, &period);
  const char *profile = secure_getenv("RELOCK_PROFILE_DIR"); /* profiler/layout.h */
  bool profiled = profile && profile[0] == '/';
  if (period && !to_file)
    relock_usage_error("RELOCK_STATS_EVERY goes with RELOCK_STATS=FILE, a name with a . or / in "
                       "it: that is what is written every so often");
  if (profiled)
    relock_stats_start_in(profile);
  if (to_file)
    relock_stats_start(stats, period);
  else if (stats && strcmp(stats, "1") == 0)
    relock_stats_start(NULL, 0);
  else if (stats && *stats && strcmp(stats, "0") != 0)
    relock_usage_error("RELOCK_STATS: unknown value '%s'; the values are: 0 1, or the name of a "
                       "file, with a . or / in it",
                       stats);

  const char *tuning = secure_getenv("RELOCK_TUNE");
  if (tuning)
    read_tuning(tuning);
  const char *servers = secure_getenv("RELOCK_SERVERS");
  if (servers)
    read_servers(servers);
  read_number("RELOCK_BALANCE", RELOCK_MAX_SERVERS, &balanced_servers);
  read_number("RELOCK_CLUSTERS", RELOCK_MAX_CLUSTERS, &cluster_count);
  /* Release: pairs with the acquire above. */
  relock_store_release(&options_read, 1);
}

unsigned relock_option_balance(void) { return relock_load_relaxed(&balanced_servers); }

unsigned relock_option_clusters(void) { return relock_load_relaxed(&cluster_count); }

__attribute__((constructor(101))) static void read_at_start(void) { relock_options_read(); }
