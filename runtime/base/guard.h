/* SPDX-License-Identifier: MIT
 *
 * The words that guard the runtime's own data. All of them are named here, so that fork knows them:
 * it takes each one, which makes the data behind it whole in the child, and releases it on both
 * sides. Each is held for a few instructions only. A thread that holds one takes only those that
 * come behind it.
 */
#ifndef RELOCK_BASE_GUARD_H
#define RELOCK_BASE_GUARD_H

#include <stdbool.h>

enum relock_guard {
  RELOCK_GUARD_FORK, /* by who forks: one thread at a time */
  /* What is written. The exception: its holder waits for files, and a fork does not wait for them;
   * in the child it is free, and what the parent's thread was writing is forgotten. */
  RELOCK_GUARD_OUTPUT,
  RELOCK_GUARD_CLASSES,    /* the list of lock classes, class.c */
  RELOCK_GUARD_PROCESSORS, /* which server has which, servers.c */
  RELOCK_GUARD_CLIENTS,    /* their numbers, client.c */
  RELOCK_GUARD_THREADS,    /* the records and the spare requests, thread.c */
  RELOCK_GUARD_ANNEXES,    /* those that are free, annex.c */
  RELOCK_GUARD_BARRIERS,   /* their nodes that are free, barrier.c */
  /* A mutex or a condition variable that a fork has copied while threads waited, mutex.c, cond.c.
   */
  RELOCK_GUARD_OLD_WAITERS,
  RELOCK_GUARD_SIGNALS, /* handlers, signals.c; its holder blocks all signals */
  RELOCK_GUARDS
};

void relock_guard_take(enum relock_guard guard);
void relock_guard_release(enum relock_guard guard);

/* By signal handlers, which may have interrupted the holder: takes a guard if it is free; gives it
 * back without the call of below; whether somebody has it. */
bool relock_guard_try(enum relock_guard guard);
void relock_guard_release_quietly(enum relock_guard guard);
bool relock_guard_is_taken(enum relock_guard guard);

/* What is to be called after each release of OUTPUT and CLASSES: what a handler wanted them for and
 * could not have. */
void relock_guards_tell(void (*released)(void));

/* At start, if a race detector looks on (annotate.h). */
void relock_guards_annotate(void);

/* Around a fork: FORK before everything else, and the others last; and afterwards, in the parent
 * and in the child. */
void relock_guards_take_all(void);
void relock_guards_release_all(void);
void relock_guards_after_fork(void); /* in the child, before that */

#endif
