/* SPDX-License-Identifier: MIT
 *
 * Reading of the environment. Of RELOCK_LOCKS, which is looked at once per class, there is a copy:
 * programs write over their environment, to have a title for their processes.
 */
#define _GNU_SOURCE
#include "environment.h"

#include "../base/atomic.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../locks/algorithm.h"
#include "../statistics/stats_output.h"
#include "../statistics/stats_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define USAGE "RELOCK_LOCKS is a list class=algorithm,...; the algorithms are: %s"

static const char *locks_text = "";
static uint32_t options_read;
static uint32_t strict;
static uint32_t inherited; /* it was read by a process that this one is a forked child of */

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

bool relock_option_strict(void) { return relock_load_relaxed(&strict); }

bool relock_options_are_inherited(void) { return relock_load_relaxed(&inherited); }

void relock_options_after_fork(void) { relock_store_relaxed(&inherited, 1); }

static void read_strict(void) {
  const char *text = secure_getenv("RELOCK_STRICT");
  if (text && *text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
    relock_usage_error("RELOCK_STRICT: unknown value '%s'; the values are: 0 1", text);
  relock_store_relaxed(&strict, text && *text == '1');
}

static void read_locks(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = relock_os->reserve(size);
  if (copy)
    relock_store_relaxed(&locks_text, memcpy(copy, text, size));
}

static bool is_metrics(const char *format) {
  const bool metrics = format && strcmp(format, "prometheus") == 0;
  if (format && *format && !metrics && strcmp(format, "profile") != 0)
    relock_usage_error(
        "RELOCK_STATS_FORMAT: unknown value '%s'; the values are: profile prometheus", format);
  return metrics;
}

static void read_statistics(void) {
  const char *stats = secure_getenv("RELOCK_STATS");
  const bool to_file = stats && strpbrk(stats, "./"); /* so that a mistyped word is not a file */
  const char *profile = secure_getenv("RELOCK_PROFILE_DIR"); /* profiler/layout.h */
  struct relock_stats_wanted wanted = {
      .file = to_file ? stats : NULL,
      .metrics = is_metrics(secure_getenv("RELOCK_STATS_FORMAT")),
      .signal = relock_option_signal("RELOCK_STATS_SIGNAL"),
  };
  relock_option_number("RELOCK_STATS_EVERY", 1000000, &wanted.seconds);
  if (!to_file && (wanted.seconds || wanted.signal || wanted.metrics))
    relock_usage_error(
        "%s goes with RELOCK_STATS=FILE, a name with a . or / in it: that is what is "
        "written%s",
        wanted.seconds  ? "RELOCK_STATS_EVERY"
        : wanted.signal ? "RELOCK_STATS_SIGNAL"
                        : "RELOCK_STATS_FORMAT",
        wanted.seconds ? " every so often" : "");
  if (profile && profile[0] == '/')
    relock_stats_start_in(profile);
  if (to_file || (stats && strcmp(stats, "1") == 0))
    relock_stats_start(&wanted);
  else if (stats && *stats && strcmp(stats, "0") != 0)
    relock_usage_error("RELOCK_STATS: unknown value '%s'; the values are: 0 1, or the name of a "
                       "file, with a . or / in it",
                       stats);
}

void relock_options_read(void) {
  /* Acquire: pairs with the release below. Several threads may read; they store the same. */
  if (relock_load_acquire(&options_read))
    return;
  read_strict();
  const char *locks = secure_getenv("RELOCK_LOCKS");
  if (locks)
    read_locks(locks);
  struct relock_choice choice;
  for (const char *at = relock_option_first(&choice); at; at = relock_option_next(at, &choice))
    continue; /* parsing ends the program at a wrong entry */

  relock_stats_text_start();
  read_statistics();

  relock_options_read_values();
  /* Release: pairs with the acquire above. */
  relock_store_release(&options_read, 1);
}

__attribute__((constructor(101))) static void read_at_start(void) { relock_options_read(); }
