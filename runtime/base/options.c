/* SPDX-License-Identifier: MIT
 *
 * Reading of the environment. The text is used where it lies and only read: entries are found
 * anew each time, which happens once per class.
 */
#define _GNU_SOURCE
#include "options.h"

#include "../locks/algorithm.h"
#include "atomic.h"
#include "panic.h"
#include "stats.h"
#include "topology.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USAGE "RELOCK_LOCKS is a list class=algorithm,...; the algorithms are: %s"

static const char *locks_text = "";
static uint32_t cluster_count;
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
  const struct relock_algorithm *algorithm = relock_algorithm_find(equals + 1, length);
  if (!algorithm)
    relock_usage_error("RELOCK_LOCKS: unknown algorithm '%.*s' in '%.*s'; the algorithms are: %s",
                       (int)length, equals + 1, (int)(end - at), at, relock_algorithms());
  choice->name = at;
  choice->name_length = (size_t)(equals - at);
  choice->algorithm = algorithm->name;
  return end;
}

struct relock_tuning relock_tuning = {
#define RELOCK_TUNABLE(name, value, least, greatest) .name = value,
#include "tunables.def"
};

static const struct tunable {
  const char *name;
  uint32_t *value;
  uint32_t least, greatest;
} tunables[] = {
#define RELOCK_TUNABLE(name, value, least, greatest) {#name, &relock_tuning.name, least, greatest},
#include "tunables.def"
};
static const char tunable_names[] =
#define RELOCK_TUNABLE(name, value, least, greatest) " " #name
#include "tunables.def"
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

const char *relock_option_algorithm(const char *class_name) {
  const char *named = NULL, *every = NULL;
  struct relock_choice choice;
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice)) {
    if (choice.name_length == 1 && choice.name[0] == '*')
      every = choice.algorithm;
    else if (strlen(class_name) == choice.name_length &&
             memcmp(choice.name, class_name, choice.name_length) == 0)
      named = choice.algorithm;
  }
  return named ? named : every;
}

void relock_options_read(void) {
  /* Acquire: pairs with the release below. Several threads may read; they store the same. */
  if (relock_load_acquire(&options_read))
    return;
  const char *locks = secure_getenv("RELOCK_LOCKS");
  if (locks)
    relock_store_relaxed(&locks_text, locks);
  struct relock_choice choice;
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice))
    continue; /* parsing ends the program at a wrong entry */

  const char *stats = secure_getenv("RELOCK_STATS");
  if (stats && strcmp(stats, "1") == 0)
    relock_stats_start(NULL);
  else if (stats && strpbrk(stats, "./")) /* so that a mistyped word is not a file */
    relock_stats_start(stats);
  else if (stats && *stats && strcmp(stats, "0") != 0)
    relock_usage_error("RELOCK_STATS: unknown value '%s'; the values are: 0 1, or the name of a "
                       "file, with a . or / in it",
                       stats);

  const char *tuning = secure_getenv("RELOCK_TUNE");
  if (tuning)
    read_tuning(tuning);
  const char *clusters = secure_getenv("RELOCK_CLUSTERS");
  if (clusters && *clusters) {
    char *end;
    unsigned long value = strtoul(clusters, &end, 10);
    if (*end || value < 1 || value > RELOCK_MAX_CLUSTERS)
      relock_usage_error("RELOCK_CLUSTERS: '%s' is not a number from 1 to %d", clusters,
                         RELOCK_MAX_CLUSTERS);
    relock_store_relaxed(&cluster_count, (uint32_t)value);
  }
  /* Release: pairs with the acquire above. */
  relock_store_release(&options_read, 1);
}

unsigned relock_option_clusters(void) { return relock_load_relaxed(&cluster_count); }

__attribute__((constructor(101))) static void read_at_start(void) { relock_options_read(); }
