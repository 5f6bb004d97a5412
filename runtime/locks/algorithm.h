/* SPDX-License-Identifier: MIT
 *
 * What an algorithm is: two ways to get a section done under a mutex's exclusion word. All else
 * (trylock, timed locks, unlock, types, condition variables, fork) works on the word and is the
 * same for all, and so is a fork: `tail` and `open` are 0 before an algorithm sees them in the
 * child. A new algorithm is one file, its name in algorithms.def, and a row in doc/algorithms.md.
 */
#ifndef RELOCK_LOCKS_ALGORITHM_H
#define RELOCK_LOCKS_ALGORITHM_H

#include "../base/request.h"
#include "../base/thread.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>

struct relock_algorithm {
  const char *name;
  /* Takes the word for a holder, after a try of it has failed. */
  void (*lock)(relock_mutex_t *mutex, struct relock_thread *self);
  /* Runs the section under the word, in whatever thread, after a try of the word has failed.
   * Returns what the section returned. Null: the caller takes the word by lock and runs it. */
  int (*execute)(relock_mutex_t *mutex, struct relock_thread *self, const struct relock_call *call);
  /* Optional. A holder is about to release the word, which it took by `lock`, and which set
   * RELOCK_KIND_TELLS; clears that. */
  void (*release)(relock_mutex_t *mutex);
  bool always_delegates; /* execute is called without a try of the word */
  bool has_annex;        /* see annex.h */
  bool has_server;       /* a class of it belongs to a server */
  bool can_move;         /* a class can come and go while its mutexes are used */
};

/* For the first two: `self` is the caller's record and can wait (relock_thread_can_wait()). */

#define RELOCK_ALGORITHM(name) extern const struct relock_algorithm relock_##name;
#include "algorithms.def"

#define RELOCK_DEFAULT_ALGORITHM "adaptive"

/* By name; null if there is none. */
const struct relock_algorithm *relock_algorithm_find(const char *name, size_t length);
const struct relock_algorithm *relock_algorithm_named(const char *name);

/* A name as users write it: with ":N" behind it, the algorithm's server, from 1 on. Null: there is
 * no such algorithm, or server. */
const struct relock_algorithm *relock_algorithm_parse(const char *text, size_t length,
                                                      unsigned *server);

#endif
