/* SPDX-License-Identifier: MIT
 *
 * Signal handlers in a process whose sections run with other threads' pointers. Every handler runs
 * with the pointer of the thread on whose stack it runs, and what it has interrupted goes on with
 * the pointer that it had. A handler on a client that waits and its section elsewhere do not run at
 * the same time.
 *
 * A trampoline does this. It stands in front of all handlers from the moment on at which the first
 * section is about to be switched: of those of the C library, too, which are found by asking the
 * kernel, and of those that are installed later, since sigaction() and its kin are this library's
 * (sigaction.c). Programs see their own handlers and flags as ever.
 *
 *   the kernel's handler                the table                what runs
 *   the program's                       null or older            that, as it is: nothing switches
 * yet the trampoline                      the program's            the trampoline, and from it that
 *   default or ignored                  null or older            nothing
 *
 * The table has a handler before the kernel has the trampoline, and keeps it when the program
 * resets the signal: a trampoline that is on its way then still finds one. Flags and mask are the
 * kernel's only, but for SA_SIGINFO and the mask: the trampoline needs it, as AArch64 passes the
 * context only then, and it begins with all signals blocked. The tables have what the program has
 * set.
 *
 * What is not seen: handlers that a program installs by the system call itself once sections are
 * switched, until the next thread begins. The C library's own are installed before there is a
 * second thread (setuid), or look at threads that cannot be cancelled here (cancellation).
 */
#ifndef RELOCK_BASE_SIGNALS_H
#define RELOCK_BASE_SIGNALS_H

#include "atomic.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct relock_thread;

/* Puts the trampoline in place. False, and nothing is changed: the program's calls of sigaction()
 * do not come to this library, so that its later handlers would not be seen. */
bool relock_signals_start(void);

/* With three arguments, as the kernel passes them; those that take one do not look at the others.
 */
typedef void relock_handler_t(int number, siginfo_t *info, void *context);

/* A signal of the process on which the runtime has a handler until the program has one, which is
 * said then. The handler blocks all signals. False, and nothing is changed: there is one already.
 */
bool relock_signals_keep(int number, relock_handler_t *handler);

/* Looks for handlers without the trampoline, if it is in place. */
void relock_signals_look(void);
void relock_signals_look_at(int number);

void relock_signals_after_fork(void); /* in the child */

/* By the trampoline, around a handler that has interrupted its thread, whose record that is, in a
 * wait: the first returns when no section uses the thread's identity, and none does until the last
 * of nested ones. See identity.c. */
void relock_handler_begins(struct relock_thread *self);
void relock_handler_ends(struct relock_thread *self);

/* --- for sigaction.c ------------------------------------------------------------------------- */

enum { RELOCK_SIGNALS = 65 };

/* What the table has of a handler behind the trampoline. The kernel blocks all signals when it
 * enters the trampoline, which then blocks these: `mask`, in the kernel's form, and the signal
 * itself unless handlers of it may be `nested` (SA_NODEFER). without_info: installed without
 * SA_SIGINFO. */
struct relock_handler {
  relock_handler_t *handler;
  uint64_t mask;
  bool without_info, nested;
};
struct relock_handler relock_handler_read(int number);
/* By who has locked the table. */
void relock_handler_write(int number, const struct relock_handler *handler);

static inline uint64_t relock_signal_bit(int number) { return (uint64_t)1 << (number - 1); }

void relock_trampoline(int number, siginfo_t *info, void *context) RELOCK_HIDDEN;

/* Whether the trampoline is in place in this process. Not in the child of vfork(), which has the
 * table of its parent but not its signals. */
bool relock_signals_started(void);

/* The program has given a signal that handler, which may be SIG_DFL or SIG_IGN. */
void relock_signals_are_taken(int number, relock_handler_t *handler);

/* Handlers call sigaction() as well: until the table is unlocked there are none on this thread. */
uint64_t relock_signals_lock(void);
void relock_signals_unlock(uint64_t blocked);

/* Whether the program's calls of sigaction() come to this library. */
bool relock_sigaction_is_ours(void);

#endif
