/* SPDX-License-Identifier: MIT
 *
 * The trampoline in front of signal handlers. See signals.h, and identity.c for the states of an
 * identity.
 *
 * The trampoline begins with any thread's pointer. The record that it finds by that is its thread's
 * own if the kernel's number of the thread is in it. Else its thread runs a section with the
 * identity of a client, and has a record that names the client. Until it has set its own pointer it
 * uses no other thread-local variable, and none afterwards.
 */
#include "signals.h"

#include "guard.h"
#include "identity.h"
#include "os.h"
#include "panic.h"
#include "thread.h"
#include "wait.h"
#include "word.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

/* The table, by signal: see struct relock_handler. Changed by who has locked it. */
static relock_handler_t *handlers[RELOCK_SIGNALS];
static uint64_t handler_masks[RELOCK_SIGNALS];
static uint64_t handlers_nested, handlers_without_info; /* sets, by relock_signal_bit() */

static uint32_t kept; /* the signal on which the runtime has a handler; 0: none */
static relock_handler_t *keeper;
static int kept_in; /* a process, by its number */

static uint32_t started; /* the process, by its number; 0: not yet */

/* --- what handlers and sections exclude ------------------------------------------------------ */

/* A handler waits at first for the section to end by itself. After this long it interrupts the
 * thread that runs it, as the section may wait for the handler, and then less and less often. */
enum { RING_NS = 1000000, MOST_NS = 1000000000 };

static void await_runner(struct relock_thread *runner, const struct relock_thread *self) {
  uint32_t spins = relock_wait_spins();
  uint64_t pause = RING_NS;
  /* Acquire: pairs with the release in set_runs_as(), identity.c. */
  while (relock_load_seq_cst(&runner->runs_as) == self->number + 1) {
    if (spins > 0) {
      spins--;
      relock_pause();
      continue;
    }
    const bool rings = relock_load_relaxed(&handlers[RELOCK_SIGNAL_SETXID]);
    const struct timespec deadline = relock_time(relock_os->now_ns() + pause);
    if (relock_os->futex_wait(&runner->runs_as, self->number + 1, CLOCK_MONOTONIC,
                              rings ? &deadline : NULL) != ETIMEDOUT)
      continue;
    relock_os->interrupt(relock_load_relaxed(&runner->tid));
    pause = pause < MOST_NS ? 2 * pause : pause;
  }
}

void relock_handler_begins(struct relock_thread *self) {
  const uint32_t handlers = relock_load_relaxed(&self->handlers) + 1;
  /* Comes before the look at the runners: pairs with set_runs_as(), identity.c. */
  if (relock_barrier_works()) {
    relock_store_relaxed(&self->handlers, handlers);
    relock_os->barrier();
  } else {
    (void)relock_exchange_seq_cst(&self->handlers, handlers);
  }
  for (uint32_t i = 0; i < relock_threads_end(); i++)
    await_runner(relock_thread_numbered(i), self);
}

void relock_handler_ends(struct relock_thread *self) {
  const uint32_t handlers = relock_load_relaxed(&self->handlers) - 1;
  /* Release: pairs with the load in has_handlers(), identity.c. */
  relock_store_release(&self->handlers, handlers);
  if (handlers == 0)
    relock_os->futex_wake(&self->handlers, INT32_MAX);
}

/* --- the trampoline -------------------------------------------------------------------------- */

/* Those two touch nothing that a section could see, and setuid() waits for one of them. */
static bool excludes_sections(int number) {
  return number != RELOCK_SIGNAL_SETXID && number != RELOCK_SIGNAL_CANCEL;
}

/* The signals that are blocked in what the handler has interrupted. */
static uint64_t blocked_without(const void *context) {
  uint64_t blocked;
  memcpy(&blocked, &((const ucontext_t *)context)->uc_sigmask, sizeof blocked);
  return blocked;
}

/* Of two signals that come at once the kernel enters the second one's handler first, in front of
 * the first instruction of the other. Such a handler would wait, at its end, for handlers of the
 * client whose identity it has interrupted, and they may wait for the one that it has come in front
 * of. So the kernel blocks all signals, until a handler has given that identity back. A program
 * that changes a handler meanwhile may have the mask of the other one. */
static void unblock(int number, const void *context) {
  uint64_t blocked = blocked_without(context) | relock_load_relaxed(&handler_masks[number]);
  if (!(relock_load_relaxed(&handlers_nested) & relock_signal_bit(number)))
    blocked |= relock_signal_bit(number);
  relock_os->restore_signals(blocked);
}

/* foreign: the pointer is a client's. It may be the thread's own while it is about to switch. */
static __attribute__((noinline)) void handle(struct relock_thread *self, bool foreign,
                                             relock_handler_t *handler, int number, siginfo_t *info,
                                             void *context) {
  struct relock_thread *client = self->runs_as ? relock_thread_numbered(self->runs_as - 1) : NULL;
  const uintptr_t interrupted = relock_thread_pointer();
  const bool waits = self->asks > 0 && excludes_sections(number);
  if (client)
    relock_identity_give(self, client);
  if (foreign)
    relock_set_thread_pointer(self->thread_pointer);
  unblock(number, context);
  if (waits)
    relock_handler_begins(self);
  handler(number, info, context);
  if (waits)
    relock_handler_ends(self);
  if (client) {
    /* This waits for handlers of the client, which may wait for the next signal of this thread:
     * that comes now, on top of this frame, as it would if the section were not another's. */
    relock_os->restore_signals(blocked_without(context));
    relock_identity_take(self, client);
  }
  if (foreign)
    relock_set_thread_pointer(interrupted);
}

void relock_trampoline(int number, siginfo_t *info, void *context) {
  /* Acquire: pairs with the releases in put_in_front() and of sigaction.c. */
  relock_handler_t *handler = relock_load_acquire(&handlers[number]);
  struct relock_thread *found = relock_own_record, *self = found;
  if (found) { /* else the thread can neither run as another one nor be a client */
    const int tid = relock_os->thread_id();
    if (relock_load_relaxed(&found->tid) != tid)
      self = relock_thread_with_id(tid);
  }
  /* No record: also in a process that was made past fork(). */
  if (self)
    handle(self, self != found, handler, number, info, context);
  else {
    unblock(number, context);
    handler(number, info, context);
  }
}

/* --- the table ------------------------------------------------------------------------------- */

bool relock_signals_started(void) {
  /* Sequentially consistent: pairs with relock_signals_start(), which looks at the handlers then.
   */
  const uint32_t process = relock_load_seq_cst(&started);
  return process != 0 && process == (uint32_t)relock_os->process_id();
}

uint64_t relock_signals_lock(void) {
  const uint64_t blocked = relock_os->block_signals();
  relock_guard_take(RELOCK_GUARD_SIGNALS);
  return blocked;
}

void relock_signals_unlock(uint64_t blocked) {
  relock_guard_release(RELOCK_GUARD_SIGNALS);
  relock_os->restore_signals(blocked);
}

static void set(uint64_t *signals, int number, bool in) {
  if (in)
    relock_or_relaxed(signals, relock_signal_bit(number));
  else
    relock_and_relaxed(signals, ~relock_signal_bit(number));
}

struct relock_handler relock_handler_read(int number) {
  const uint64_t bit = relock_signal_bit(number);
  return (struct relock_handler){
      .handler = relock_load_relaxed(&handlers[number]),
      .mask = relock_load_relaxed(&handler_masks[number]),
      .without_info = relock_load_relaxed(&handlers_without_info) & bit,
      .nested = relock_load_relaxed(&handlers_nested) & bit,
  };
}

void relock_handler_write(int number, const struct relock_handler *handler) {
  relock_store_relaxed(&handler_masks[number], handler->mask);
  set(&handlers_nested, number, handler->nested);
  set(&handlers_without_info, number, handler->without_info);
  /* Release: pairs with the acquire in relock_trampoline(). */
  relock_store_release(&handlers[number], handler->handler);
}

static bool needs_trampoline(int number, struct relock_signal_action *action) {
  enum { DEFAULT, IGNORED };
  return number != SIGKILL && number != SIGSTOP && relock_os->signal_action(number, NULL, action) &&
         action->handler > IGNORED && action->handler != (uintptr_t)relock_trampoline;
}

/* A signal that comes between the two calls, to a handler that is for once only, has it twice. */
static void put_in_front(int number) {
  struct relock_signal_action action;
  if (!needs_trampoline(number, &action))
    return;
  relock_handler_write(number, &(struct relock_handler){
                                   .handler = (relock_handler_t *)action.handler,
                                   .mask = action.mask,
                                   .without_info = !(action.flags & SA_SIGINFO),
                                   .nested = action.flags & SA_NODEFER,
                               });
  action.handler = (uintptr_t)relock_trampoline;
  action.mask = UINT64_MAX;
  action.flags |= SA_SIGINFO;
  relock_os->signal_action(number, &action, NULL);
}

void relock_signals_look_at(int number) {
  struct relock_signal_action action;
  if (!needs_trampoline(number, &action))
    return;
  const uint64_t blocked = relock_signals_lock();
  put_in_front(number);
  relock_signals_unlock(blocked);
}

static void look_at_all(void) {
  for (int number = 1; number < RELOCK_SIGNALS; number++)
    relock_signals_look_at(number);
}

void relock_signals_look(void) {
  if (relock_signals_started())
    look_at_all();
}

bool relock_signals_start(void) {
  if (!relock_sigaction_is_ours())
    return false;
  /* Pairs with relock_signals_started(), which who installs a handler asks behind that. */
  (void)relock_exchange_seq_cst(&started, (uint32_t)relock_os->process_id());
  look_at_all();
  return true;
}

void relock_signals_after_fork(void) {
  if (relock_load_relaxed(&started))
    relock_store_relaxed(&started, (uint32_t)relock_os->process_id());
}

/* --- a handler of the runtime's own ---------------------------------------------------------- */

bool relock_signals_keep(int number, relock_handler_t *handler) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART}, found;
  sigfillset(&action.sa_mask);
  const int saved = errno;
  bool done = sigaction(number, NULL, &found) == 0 &&
              (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN) &&
              sigaction(number, &action, NULL) == 0;
  errno = saved;
  if (done) {
    keeper = handler;
    kept_in = relock_os->process_id();
    relock_store_relaxed(&kept, (uint32_t)number);
  }
  return done;
}

/* In forked children, which often reset all signals for the program that they are about to run, it
 * is nothing to be said. */
void relock_signals_are_taken(int number, relock_handler_t *handler) {
  if (relock_load_relaxed(&kept) != (uint32_t)number || handler == keeper ||
      kept_in != relock_os->process_id())
    return;
  relock_store_relaxed(&kept, 0);
  relock_say(
      "RELOCK_STATS_SIGNAL: the program itself has said what becomes of signal %d: from now on "
      "no statistics are written on it; name another one",
      number);
}
