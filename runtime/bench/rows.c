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
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 256, MAX_NAME = 64 };

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

static struct row *add_row(const struct options *options, const char *lock, const char *mode,
                           enum way way) {
  static struct row unwanted;
  bool algorithm = way == WAY_HOLD || way == WAY_EXECUTE || way == WAY_ANY_THREAD;
  if (!in_list(options->locks, lock) || (algorithm && !in_list(options->modes, mode)))
    return &unwanted;
  if (row_count == MAX_ROWS)
    fail(2, "more than %d rows; choose some with --algorithm", MAX_ROWS);
  struct row *row = &rows[row_count++];
  row->lock = lock;
  row->mode = mode;
  row->way = way;
  if (algorithm) {
    char *name = malloc(2 * MAX_NAME);
    if (!name)
      fail(2, "no memory");
    snprintf(name, 2 * MAX_NAME, "bench_%s_%s", lock, mode);
    row->lock_class.name = name;
    row->lock_class.algorithm = lock;
  }
  return row;
}

static void add_algorithm(const struct options *options, const char *name) {
  add_row(options, name, "hold", WAY_HOLD);
  add_row(options, name, "execute", WAY_EXECUTE);
  if (relock_algorithm_named(name)->execute) /* else the caller runs its section in any case */
    add_row(options, name, "any-thread", WAY_ANY_THREAD);
}

static void each_algorithm(const struct options *options,
                           void (*each)(const struct options *options, const char *name)) {
  for (const char *at = relock_algorithms(); *at;) {
    size_t length = strcspn(at, " ");
    char *name = strndup(at, length);
    if (!name)
      fail(2, "no memory");
    each(options, name);
    at += length;
    at += *at == ' ';
  }
}

static const struct relock_bench_lock *others(const struct options *options) {
  static const struct relock_bench_lock none;
  if (!options->other)
    return &none;
  void *library = dlopen(options->other, RTLD_NOW);
  if (!library)
    fail(2, "--other: %s", dlerror());
  const struct relock_bench_lock *locks = dlsym(library, "relock_bench_locks");
  if (!locks)
    fail(2, "--other: %s defines no relock_bench_locks", options->other);
  return locks;
}

static void each_reference(const struct options *options) {
  add_row(options, "pthread", "hold", WAY_PTHREAD)->pthread_type = PTHREAD_MUTEX_NORMAL;
#ifdef __GLIBC__
  add_row(options, "pthread-adaptive", "hold", WAY_PTHREAD)->pthread_type =
      PTHREAD_MUTEX_ADAPTIVE_NP;
#endif
  for (const struct relock_bench_lock *lock = others(options); lock->name; lock++)
    add_row(options, lock->name, "other", WAY_OTHER)->other = lock;
  add_row(options, "fetch-and-add", "limit", WAY_FETCH_AND_ADD);
}

const char *lock_names(const struct options *options) {
  static char names[MAX_ROWS * MAX_NAME];
  struct options all = *options;
  all.locks = all.modes = NULL;
  row_count = 0;
  each_algorithm(&all, add_algorithm);
  each_reference(&all);
  size_t used = 0;
  for (size_t i = 0; i < row_count; i++)
    if (i == 0 || strcmp(rows[i].lock, rows[i - 1].lock) != 0)
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? " " : "",
                               rows[i].lock);
  row_count = 0;
  memset(rows, 0, sizeof rows);
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

struct row *make_rows(const struct options *options, size_t *count) {
  check_names("--algorithm", options->locks, lock_names(options));
  check_names("--mode", options->modes, "hold execute any-thread");
  each_algorithm(options, add_algorithm);
  each_reference(options);
  if (row_count == 0)
    fail(2, "nothing to measure: no chosen algorithm has a chosen mode");
  *count = row_count;
  return rows;
}
