/* SPDX-License-Identifier: MIT
 *
 * The C library's functions that install signal handlers, as programs know them: handlers go into
 * the table of signals.h and the trampoline to the kernel, and what programs get back are their
 * own. Until sections are switched, and in other processes, all goes straight on.
 *
 * sigignore(), system() and others that the C library has above its own sigaction() install no
 * handlers, and put back what they have found.
 *
 * Weak: a program may have its own functions of these names. They end up here all the same. So do
 * calls from a program that is statically linked; a sanitizer's functions come first, or next.
 *
 * A library that is built with a sanitizer leaves these names alone: the sanitizer calls them
 * before it is ready for code that it has instrumented, and switches no identities.
 */
#define _GNU_SOURCE
#include "signals.h"

#include "atomic.h"

#if RELOCK_UNDER_TSAN || RELOCK_UNDER_ASAN
bool relock_sigaction_is_ours(void) { return false; }
#else

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#define INTERPOSED __attribute__((weak, visibility("default")))

typedef int sigaction_t(int number, const struct sigaction *action, struct sigaction *found);

/* glibc's name for its own. */
extern sigaction_t __sigaction;

/* Missing where everything is linked statically, as then there is nothing else to be found. */
extern __typeof__(dlsym) dlsym __attribute__((weak));

static sigaction_t *next = __sigaction;

/* Another library's may stand between this one and the C library's. */
__attribute__((constructor(101))) static void find_next(void) {
  if (!dlsym)
    return;
  const int saved = errno;
  void *found = dlsym(RTLD_NEXT, "sigaction");
  errno = saved;
  if (found)
    next = (sigaction_t *)found;
}

static bool is_handler(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
         action->sa_sigaction != relock_trampoline;
}

static struct sigaction probe;
static volatile bool reached; /* volatile: the compiler knows that sigaction() calls nobody back */

bool relock_sigaction_is_ours(void) {
  reached = false;
  return sigaction(SIGUSR1, NULL, &probe) == 0 && reached;
}

/* All signals that can be blocked: sigfillset() leaves out those of the C library. */
static bool is_ours(const sigset_t *mask) {
  uint64_t blocked;
  memcpy(&blocked, mask, sizeof blocked);
  return (blocked | relock_signal_bit(SIGKILL) | relock_signal_bit(SIGSTOP)) == UINT64_MAX;
}

/* What the program has installed, instead of what the kernel says. Of a handler that was for once
 * only, the kernel still has the mask and the flags. */
static void translate(struct sigaction *found, const struct relock_handler *entry) {
  if (found->sa_sigaction == relock_trampoline)
    found->sa_sigaction = entry->handler;
  if (entry->handler && is_ours(&found->sa_mask)) {
    memset(&found->sa_mask, 0, sizeof found->sa_mask);
    memcpy(&found->sa_mask, &entry->mask, sizeof entry->mask);
  }
  if (entry->without_info)
    found->sa_flags &= ~SA_SIGINFO;
}

/* Puts the trampoline in its place, and returns what the tables have to say. */
static struct relock_handler put_trampoline(struct sigaction *action) {
  struct relock_handler entry = {
      .handler = action->sa_sigaction,
      .without_info = !(action->sa_flags & SA_SIGINFO),
      .nested = action->sa_flags & SA_NODEFER,
  };
  memcpy(&entry.mask, &action->sa_mask, sizeof entry.mask);
  action->sa_sigaction = relock_trampoline;
  action->sa_flags |= SA_SIGINFO;
  memset(&action->sa_mask, 0xff, sizeof action->sa_mask);
  return entry;
}

/* With the table locked: a handler and its flags belong together. */
static int put(int number, struct sigaction *action, struct sigaction *found) {
  const struct relock_handler before = relock_handler_read(number);
  const bool handles = action && is_handler(action);
  if (handles) {
    const struct relock_handler entry = put_trampoline(action);
    relock_handler_write(number, &entry);
  }
  const int result = next(number, action, found);
  if (result == 0) {
    translate(found, &before);
    if (action && !handles) {
      struct relock_handler kept = {.handler = before.handler};
      memcpy(&kept.mask, &action->sa_mask, sizeof kept.mask);
      relock_handler_write(number, &kept);
    }
  } else if (handles) {
    relock_handler_write(number, &before);
  }
  return result;
}

/* Before sections are switched, and in a child of vfork() or of the system call: it has trampolines
 * and no use for more. */
static int pass_on(int number, const struct sigaction *action, struct sigaction *found) {
  const int result = next(number, action, found);
  const struct relock_handler entry = relock_handler_read(number);
  if (result == 0)
    translate(found, &entry);
  if (relock_signals_started()) /* meanwhile: this one may have been missed */
    relock_signals_look_at(number);
  return result;
}

static int change(int number, const struct sigaction *action, struct sigaction *found) {
  if (number < 1 || number >= RELOCK_SIGNALS)
    return next(number, action, found);
  struct sigaction copy, old, *asked = NULL; /* either pointer may be bad, or both the same */
  relock_handler_t *wanted = NULL;
  if (action) {
    copy = *action;
    asked = &copy;
    wanted = copy.sa_sigaction;
  }
  int result;
  if (relock_signals_started()) {
    const uint64_t blocked = relock_signals_lock();
    result = put(number, asked, &old);
    relock_signals_unlock(blocked);
  } else {
    result = pass_on(number, asked, &old);
  }
  if (result == 0 && action)
    relock_signals_are_taken(number, wanted);
  if (result == 0 && found)
    *found = old;
  return result;
}

INTERPOSED int sigaction(int number, const struct sigaction *action, struct sigaction *found) {
  if (found == &probe)
    reached = true;
  return change(number, action, found);
}

/* --- those above it -------------------------------------------------------------------------- */

/* Signals that interrupt system calls although signal() has installed their handlers. */
static uint64_t interrupting;

static bool is_wrong(int number, sighandler_t handler) {
  const bool wrong = handler == SIG_ERR || number < 1 || number >= RELOCK_SIGNALS;
  if (wrong)
    errno = EINVAL;
  return wrong;
}

static sighandler_t install(int number, sighandler_t handler, int flags, bool blocks_itself) {
  if (is_wrong(number, handler))
    return SIG_ERR;
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, found;
  sigemptyset(&action.sa_mask);
  if (blocks_itself)
    sigaddset(&action.sa_mask, number);
  return change(number, &action, &found) == 0 ? found.sa_handler : SIG_ERR;
}

/* BSD's: the handler stays. */
INTERPOSED sighandler_t signal(int number, sighandler_t handler) {
  const bool known = number >= 1 && number < RELOCK_SIGNALS;
  const bool interrupts = known && relock_load_relaxed(&interrupting) & relock_signal_bit(number);
  return install(number, handler, interrupts ? 0 : SA_RESTART, true);
}
INTERPOSED __THROW sighandler_t bsd_signal(int number, sighandler_t handler)
    __attribute__((alias("signal")));
INTERPOSED sighandler_t ssignal(int number, sighandler_t handler) __attribute__((alias("signal")));

/* System V's: the handler is for once, and what programs get that ask for strict X/Open. */
INTERPOSED sighandler_t sysv_signal(int number, sighandler_t handler) {
  return install(number, handler, (int)SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, false);
}
INTERPOSED sighandler_t __sysv_signal(int number, sighandler_t handler)
    __attribute__((alias("sysv_signal")));

INTERPOSED int siginterrupt(int number, int interrupts) {
  struct sigaction action;
  if (change(number, NULL, &action) != 0)
    return -1;
  if (interrupts) {
    relock_or_relaxed(&interrupting, relock_signal_bit(number));
    action.sa_flags &= ~SA_RESTART;
  } else {
    relock_and_relaxed(&interrupting, ~relock_signal_bit(number));
    action.sa_flags |= SA_RESTART;
  }
  return change(number, &action, NULL);
}

/* Changes what is blocked as well: SIG_HOLD stands for a blocked signal. */
INTERPOSED sighandler_t sigset(int number, sighandler_t handler) {
  if (is_wrong(number, handler))
    return SIG_ERR;
  const bool holds = handler == SIG_HOLD;
  struct sigaction action = {.sa_handler = handler}, found;
  sigset_t set, before;
  sigemptyset(&action.sa_mask);
  sigemptyset(&set);
  sigaddset(&set, number);
  if (change(number, holds ? NULL : &action, &found) != 0 ||
      sigprocmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &set, &before) != 0)
    return SIG_ERR;
  return sigismember(&before, number) ? SIG_HOLD : found.sa_handler;
}
#endif
