/* SPDX-License-Identifier: MIT
 *
 * What is measured: every algorithm that the library knows, the C library's mutexes, a limit that
 * no lock can pass, and the locks of a file given by --other.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "../locks/algorithm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 256, MAX_NAMES = 8192 };

static struct row rows[MAX_ROWS];
static size_t row_count;

static bool in_list(const char *list, const char *name) {
  if (!list)
    return true;
  size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
      return true;
  }
  return false;
}

static bool is_algorithm(const struct row *row) {
  return row->way == WAY_HOLD || row->way == WAY_EXECUTE || row->way == WAY_ANY_THREAD;
}

static struct row *add_row(const char *lock, const char *mode, enum way way) {
  if (row_count == MAX_ROWS)
    fail(2, "more than %d rows", MAX_ROWS);
  struct row *row = &rows[row_count++];
  row->lock = lock;
  row->mode = mode;
  row->way = way;
  row->lock_class.algorithm = lock;
  return row;
}

static void add_algorithms(void) {
  static char names[MAX_NAMES];
  if ((size_t)snprintf(names, sizeof names, "%s", relock_algorithms()) >= sizeof names)
    fail(2, "the names of the algorithms are too long");
  for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    add_row(name, "hold", WAY_HOLD);
    add_row(name, "execute", WAY_EXECUTE);
    if (relock_algorithm_named(name)->execute) /* else the caller runs its section in any case */
      add_row(name, "any-thread", WAY_ANY_THREAD);
  }
}

const void *defined_by_other(const struct options *options, const char *name) {
  void *library = dlopen(options->other, RTLD_NOW);
  if (!library)
    fail(2, "--other: %s", dlerror());
  const void *found = dlsym(library, name);
  if (!found)
    fail(2, "--other: %s defines no %s", options->other, name);
  return found;
}

static const struct relock_bench_lock *others(const struct options *options) {
  static const struct relock_bench_lock none;
  return options->other ? defined_by_other(options, "relock_bench_locks") : &none;
}

static void add_references(const struct options *options) {
  add_row("pthread", "hold", WAY_PTHREAD)->pthread_type = PTHREAD_MUTEX_NORMAL;
#ifdef __GLIBC__
  add_row("pthread-adaptive", "hold", WAY_PTHREAD)->pthread_type = PTHREAD_MUTEX_ADAPTIVE_NP;
#endif
  for (const struct relock_bench_lock *lock = others(options); lock->name; lock++)
    add_row(lock->name, "other", WAY_OTHER)->other = lock;
  if (!options->length_values) /* whose operation has no length */
    add_row("fetch-and-add", "limit", WAY_FETCH_AND_ADD);
}

const char *lock_names(const struct options *options) {
  static char names[MAX_NAMES];
  size_t used = 0;
  row_count = 0;
  add_algorithms();
  add_references(options);
  for (size_t i = 0; i < row_count && used < sizeof names; i++)
    if (i == 0 || strcmp(rows[i].lock, rows[i - 1].lock) != 0)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "",
                               rows[i].lock);
  return names;
}

/* Each name in the list must be one of those separated by blanks. */
static void check_names(const char *option, const char *list, const char *valid) {
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    size_t length = strcspn(at, ",");
    const char *found = valid;
    while (*found && (strcspn(found, " ") != length || strncmp(found, at, length) != 0)) {
      found += strcspn(found, " ");
      found += *found == ' ';
    }
    if (!*found)
      fail(2, "%s: unknown name '%.*s'; the names are: %s", option, (int)length, at, valid);
  }
}

/* LOCK or LOCK:MODE. */
static bool is_named(const char *name, const struct row *row) {
  const size_t length = strcspn(name, ":");
  return strlen(row->lock) == length && strncmp(row->lock, name, length) == 0 &&
         (!name[length] || strcmp(name + length + 1, row->mode) == 0);
}

const struct row *baseline_of(const struct options *options, const struct row *of, size_t count) {
  for (size_t i = 0; options->baseline && i < count; i++)
    if (is_named(options->baseline, &of[i]))
      return &of[i];
  return NULL;
}

static void check_baseline(const struct options *options) {
  char lock[LABEL];
  if (!options->baseline)
    return;
  snprintf(lock, sizeof lock, "%.*s", (int)strcspn(options->baseline, ":"), options->baseline);
  check_names("--baseline", lock, lock_names(options));
  if (!baseline_of(options, rows, row_count))
    fail(2, "--baseline: '%s' has no mode '%s'", lock, options->baseline + strlen(lock) + 1);
}

struct row *make_rows(const struct options *options, size_t *count) {
  check_names("--algorithm", options->locks, lock_names(options));
  check_names("--mode", options->modes, "hold execute any-thread");
  check_baseline(options);
  const struct row *baseline = baseline_of(options, rows, row_count);
  *count = 0;
  for (size_t i = 0; i < row_count; i++)
    if (&rows[i] == baseline ||
        (in_list(options->locks, rows[i].lock) &&
         (!is_algorithm(&rows[i]) || in_list(options->modes, rows[i].mode))))
      rows[(*count)++] = rows[i];
  if (*count == 0)
    fail(2, "nothing to measure: no chosen algorithm has a chosen mode");
  for (size_t i = 0; i < *count; i++) { /* here the rows have found their places */
    snprintf(rows[i].class_name, sizeof rows[i].class_name, "bench_%s_%s", rows[i].lock,
             rows[i].mode);
    rows[i].lock_class.name = rows[i].class_name;
  }
  return rows;
}
