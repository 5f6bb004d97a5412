/* SPDX-License-Identifier: MIT
 *
 * What an algorithm is: two ways to get a section done under a mutex's exclusion word. All else
 * (trylock, timed locks, unlock, types, condition variables, fork) works on the word and is the
 * same for all. A new algorithm is one file, a line here and in registry.c, and a row in
 * doc/algorithms.md.
 */
#ifndef RELOCK_LOCKS_ALGORITHM_H
#define RELOCK_LOCKS_ALGORITHM_H

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>

struct relock_algorithm {
  const char *name;
  /* Takes the word for a holder, after a try of it has failed. */
  void (*lock)(relock_mutex_t *mutex);
  /* Runs the section under the word, in whatever thread. as_client: with the caller's thread
   * identity. Returns what the section returned. */
  int (*execute)(relock_mutex_t *mutex, relock_section_t section, void *context, bool as_client);
};

extern const struct relock_algorithm relock_posix, relock_mcs, relock_ccsynch, relock_rcl;

/* By name; null if there is none. */
const struct relock_algorithm *relock_algorithm_find(const char *name, size_t length);
const struct relock_algorithm *relock_algorithm_named(const char *name);

/* All names, separated by blanks. */
const char *relock_algorithm_names(void);

#endif
