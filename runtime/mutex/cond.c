/* SPDX-License-Identifier: MIT
 *
 * Condition variables, for holders of mutexes of any algorithm and for resumable sections: a list
 * of waiters, each with its own futex on its own stack, under a small lock, and in front of it a
 * stack of newcomers, which needs no lock: a combiner or server that runs a section which waits
 * must not wait itself.
 *
 * A waiter (`state`):
 *
 *            a signal chooses it          the signal is done with it
 *   WAITING --------------------> TAKEN --------------------------> SIGNALLED or BROADCAST
 *      |
 *      `-- deadline or cancellation --> LEAVING -- takes itself off the list, under the lock
 *
 * The newcomers (`incoming`, one word):
 *
 *              newcomer                     newcomer: pushes, with the old top below it
 *     0 ---------------------> top waiter <--------------------.
 *     ^                          |    ^                        |
 *     |                          |    `--- newcomer --- LISTED |
 *     |                          |                       |  ^  |
 *     |                          `-- moved to the list --|--'--'
 *     `------------- the list has become empty ----------'
 *
 * Invariants
 *  - A waiter is pushed before it or its section releases the mutex, and `incoming` is not 0 as
 *    long as it is on the stack or the list. A signal that follows a change made under the mutex
 *    therefore finds every waiter that has seen the state before the change: no wake-up is lost.
 *    One word says whether somebody waits, so that a signal which finds nobody needs no lock.
 *  - The order of the list and then of the stack from its bottom is the order in which the waiters
 *    had the mutex. Whoever has the lock moves the stack behind the list first, so that a signal
 *    chooses the one that has waited longest.
 *  - Who ends a wait is decided by one compare-and-swap of WAITING: a signal wakes exactly one
 *    thread that waited before it, and a deadline or cancellation that comes first leaves the
 *    signal to the next waiter. A cancellation that comes second passes the signal on.
 *  - A signalled waiter does not touch the condition variable again (but to pass a signal on), and
 *    a leaving one only while it is on the list, where relock_cond_destroy() finds it and waits.
 *    So the memory may be reused when that has returned.
 *  - A signal touches nothing of a waiter after its last state but the address. Between TAKEN and
 *    that state it may wait for the release of the mutex, see owed.h.
 *
 * The list's lock is tagged with the fork generation, and `incoming` has one beside it, since it is
 * an address that may need all of its bits (tagged memory). In a child, a lock word of an older
 * generation is free and its list empty, and an `incoming` of an older one is 0: their holder and
 * their waiters do not exist.
 */
#include "cond.h"

#include "../base/annotate.h"
#include "../base/class.h"
#include "../base/generation.h"
#include "../base/guard.h"
#include "../base/identity.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../locks/section.h"
#include "../server/client.h"
#include "../statistics/times.h"
#include "choice.h"
#include "submit.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

_Static_assert(sizeof(relock_cond_t) == sizeof(pthread_cond_t), "takes its place in structs");
_Static_assert(_Alignof(relock_cond_t) == _Alignof(pthread_cond_t), "takes its place in structs");
_Static_assert(CLOCK_REALTIME == 0, "a zero-filled condition variable uses CLOCK_REALTIME");

enum { WAITING, LEAVING, TAKEN, SIGNALLED, BROADCAST };

/* --- the newcomers --------------------------------------------------------------------------- */

/* A waiter's address, or this: the stack is empty and the list is not. */
enum { LISTED = 1 };

static struct relock_cond_waiter *top(uintptr_t incoming) {
  return incoming == LISTED ? NULL : (struct relock_cond_waiter *)incoming;
}

/* Whether `incoming` is this process's, and not what its parent's waiters have left. */
static bool is_of_this_process(const relock_cond_t *cond) {
  /* Acquire: pairs with the release in forget_old_waiters(). */
  return relock_load_acquire(&cond->relock_private.generation) == relock_generation();
}

/* By the first that waits, or destroys, in a forked child. None of those waiters exists here. */
static void forget_old_waiters(relock_cond_t *cond) {
  if (RELOCK_LIKELY(is_of_this_process(cond)))
    return;
  relock_guard_take(RELOCK_GUARD_OLD_WAITERS);
  if (relock_load_relaxed(&cond->relock_private.generation) != relock_generation()) {
    relock_store_relaxed(&cond->relock_private.incoming, 0);
    /* Release: pairs with the acquire in is_of_this_process(). */
    relock_store_release(&cond->relock_private.generation, relock_generation());
  }
  relock_guard_release(RELOCK_GUARD_OLD_WAITERS);
}

void relock_cond_enlist(relock_cond_t *cond, relock_mutex_t *mutex,
                        struct relock_cond_waiter *waiter) {
  uintptr_t *incoming = &cond->relock_private.incoming, seen;
  if (relock_is_watched()) {
    relock_annotate_own(cond, sizeof *cond);
    relock_annotate_own(waiter, sizeof *waiter);
  }
  forget_old_waiters(cond);
  waiter->mutex = mutex;
  waiter->state = WAITING;
  do {
    seen = relock_load_relaxed(incoming);
    waiter->next = top(seen);
    /* Release: pairs with the acquire in collect(). */
  } while (!relock_cas_release(incoming, seen, (uintptr_t)waiter));
}

/* Whether somebody may wait. A waiter that the caller's change of state concerns was pushed before
 * that change, in the order of the mutex, so that this reads its word or a later one. */
static bool has_waiters(relock_cond_t *cond) {
  return relock_load_relaxed(&cond->relock_private.incoming) != 0 && is_of_this_process(cond);
}

/* --- the list and its lock ------------------------------------------------------------------- */

/* The lock: FREE, HELD or PARKED as in word.h, in the low bits, generation above. */
static uint32_t lock_value(uint32_t state) { return relock_generation() << 2 | state; }

static bool cond_try_lock(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  uint32_t seen = relock_load_relaxed(lock);
  bool stale = seen >> 2 != lock_value(0) >> 2;
  if (!stale && seen != lock_value(RELOCK_WORD_FREE))
    return false;
  /* Acquire: pairs with the release in cond_unlock(). */
  if (!relock_cas_acquire(lock, seen, lock_value(RELOCK_WORD_HELD)))
    return false;
  if (stale)
    cond->relock_private.first = cond->relock_private.last = NULL;
  return true;
}

static void cond_lock(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  do {
    if (cond_try_lock(cond))
      return;
  } while (relock_wait_again(&wait));
  /* The generation is current from here on: a try fails on a stale word only if another thread
   * has just replaced it. Acquire: pairs with the release in cond_unlock(). */
  while (relock_exchange_acquire(lock, lock_value(RELOCK_WORD_PARKED)) !=
         lock_value(RELOCK_WORD_FREE))
    relock_wait_park(&wait, lock, lock_value(RELOCK_WORD_PARKED), CLOCK_MONOTONIC, NULL);
}

static void cond_unlock(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  /* Release: pairs with the acquires in cond_try_lock() and cond_lock(). */
  if (relock_exchange_release(lock, lock_value(RELOCK_WORD_FREE)) == lock_value(RELOCK_WORD_PARKED))
    relock_os->futex_wake(lock, 1);
}

static void append(relock_cond_t *cond, struct relock_cond_waiter *waiter) {
  struct relock_cond_waiter *last = cond->relock_private.last;
  waiter->next = NULL;
  waiter->previous = last;
  if (last)
    last->next = waiter;
  else
    cond->relock_private.first = waiter;
  cond->relock_private.last = waiter;
}

static void take_off(relock_cond_t *cond, struct relock_cond_waiter *waiter) {
  if (waiter->previous)
    waiter->previous->next = waiter->next;
  else
    cond->relock_private.first = waiter->next;
  if (waiter->next)
    waiter->next->previous = waiter->previous;
  else
    cond->relock_private.last = waiter->previous;
}

/* Moves the newcomers to the end of the list, those first that came first. */
static void collect(relock_cond_t *cond) {
  uintptr_t *incoming = &cond->relock_private.incoming;
  if (!top(relock_load_relaxed(incoming)))
    return;
  /* Acquire: pairs with the releases in relock_cond_enlist(). */
  struct relock_cond_waiter *newest = top(relock_exchange_acquire(incoming, LISTED));
  struct relock_cond_waiter *oldest = NULL;
  while (newest) {
    struct relock_cond_waiter *next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    struct relock_cond_waiter *next = oldest->next;
    append(cond, oldest);
    oldest = next;
  }
}

static void open_list(relock_cond_t *cond) {
  forget_old_waiters(cond);
  cond_lock(cond);
  collect(cond);
}

static void close_list(relock_cond_t *cond) {
  uintptr_t *incoming = &cond->relock_private.incoming;
  /* Fails when a waiter came meanwhile: then the word says so. */
  if (!cond->relock_private.first && relock_load_relaxed(incoming) == LISTED)
    relock_cas_relaxed(incoming, LISTED, 0);
  cond_unlock(cond);
}

/* --- signals --------------------------------------------------------------------------------- */

/* Takes up to count waiters off the open list, the oldest first; linked by `next`. */
static struct relock_cond_waiter *choose(relock_cond_t *cond, long count) {
  struct relock_cond_waiter *chosen = NULL, **end = &chosen;
  struct relock_cond_waiter *next = cond->relock_private.first;
  while (next && count > 0) {
    struct relock_cond_waiter *waiter = next;
    next = waiter->next;
    if (!relock_cas_relaxed(&waiter->state, WAITING, TAKEN))
      continue; /* leaving; it needs the list itself */
    take_off(cond, waiter);
    *end = waiter;
    end = &waiter->next;
    count--;
  }
  *end = NULL;
  return chosen;
}

/* Wakes waiters, now or, where the caller has the mutex that they need, when it is released. */
static void end_waits(struct relock_cond_waiter *first, uint32_t state) {
  relock_mutex_t *mutex = first->mutex;
  struct relock_cond_waiter *last = first;
  bool of_one_mutex = true;
  for (struct relock_cond_waiter *each = first; each; each = each->next) {
    each->ends_as = state;
    of_one_mutex &= each->mutex == mutex;
    last = each;
  }
  if (!of_one_mutex || !relock_owe(mutex, first, last))
    relock_wake_owed(first);
}

static int signal_waiters(relock_cond_t *cond, long count, uint32_t state) {
  relock_settle();
  if (!has_waiters(cond))
    return 0;
  open_list(cond);
  struct relock_cond_waiter *chosen = choose(cond, count);
  close_list(cond);
  if (chosen)
    end_waits(chosen, state);
  return 0;
}

int relock_cond_signal(relock_cond_t *cond) { return signal_waiters(cond, 1, SIGNALLED); }

int relock_cond_broadcast(relock_cond_t *cond) { return signal_waiters(cond, LONG_MAX, BROADCAST); }

/* --- waiting --------------------------------------------------------------------------------- */

/* Takes the waiter off the list after a deadline or a cancellation. False: a signal has it. */
static bool cond_leave(relock_cond_t *cond, struct relock_cond_waiter *waiter) {
  if (!relock_cas_relaxed(&waiter->state, WAITING, LEAVING))
    return false;
  open_list(cond);
  take_off(cond, waiter);
  uint32_t *destroyer = &cond->relock_private.destroyer;
  bool awaited = relock_load_relaxed(destroyer);
  if (awaited)
    relock_store_relaxed(destroyer, 0);
  close_list(cond);
  if (awaited)
    relock_os->futex_wake(destroyer, 1);
  return true;
}

static bool has_ended(uint32_t state) { return state >= SIGNALLED; }

/* Waits for a signal that has taken the waiter to be done with it. Returns which it was. */
static uint32_t await_end(struct relock_cond_waiter *waiter) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  for (;;) {
    /* Acquire: pairs with the release in wake(). */
    uint32_t state = relock_load_acquire(&waiter->state);
    if (has_ended(state))
      return state;
    if (!relock_wait_again(&wait))
      relock_wait_park(&wait, &waiter->state, TAKEN, CLOCK_MONOTONIC, NULL);
  }
}

struct sleeper {
  struct relock_sleep what;
  struct relock_cond_waiter *waiter;
  clockid_t clock;
  const struct timespec *deadline;
  int error;
};

static void note_sleep(const struct relock_sleep *what) {
  struct relock_thread *self = relock_thread_self();
  if (self)
    self->sleeps = what;
}

/* Cleanup of a thread cancelled in its sleep. A broadcast need not be passed on: it has woken all
 * others as well. */
static void cancelled(void *context) {
  struct sleeper *self = context;
  relock_times_wake(relock_own_record);
  note_sleep(NULL);
  if (!cond_leave(self->what.cond, self->waiter) && await_end(self->waiter) == SIGNALLED)
    relock_cond_signal(self->what.cond);
  relock_mutex_lock(self->what.mutex);
}

/* 0: signalled; ETIMEDOUT. The thread can be cancelled while it sleeps. */
static int sleep_until_signalled(const struct sleeper *self) {
  uint32_t *state = &self->waiter->state;
  int error = 0;
  /* Acquire: pairs with the release in wake(). */
  for (uint32_t seen; error == 0 && !has_ended(seen = relock_load_acquire(state));) {
    int previous;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &previous);
    error = relock_os->futex_wait(state, seen, self->clock, self->deadline);
    pthread_setcanceltype(previous, NULL);
  }
  return error;
}

int relock_cond_sleep(relock_cond_t *cond, relock_mutex_t *mutex, struct relock_cond_waiter *waiter,
                      clockid_t clock, const struct timespec *deadline) {
  struct sleeper self = {{cond, mutex}, waiter, clock, deadline, 0};
  const bool timed = relock_is_timed(mutex);
  if (timed)
    relock_times_sleep(relock_thread_self(), relock_resolved_class_of(mutex));
  note_sleep(&self.what);
  pthread_cleanup_push(cancelled, &self);
  pthread_testcancel(); /* one that was pending is acted upon even if the signal is here already */
  self.error = sleep_until_signalled(&self);
  pthread_cleanup_pop(0);
  note_sleep(NULL);
  if (self.error && !cond_leave(cond, waiter)) {
    await_end(waiter);
    self.error = 0;
  }
  if (timed)
    relock_times_wake(relock_own_record);
  return self.error;
}

int relock_cond_check_time(clockid_t clock, const struct timespec *deadline) {
  if (deadline && (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000))
    return EINVAL;
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ? 0 : EINVAL;
}

/* False: the mutex is one that knows its owner, and that is not the caller. */
static bool may_hold(const relock_mutex_t *mutex) {
  int type = relock_load_relaxed(&mutex->relock_private.kind) & RELOCK_KIND_TYPE;
  return type == RELOCK_TYPE_NORMAL ||
         relock_load_relaxed(&mutex->relock_private.owner) == relock_thread_pointer();
}

/* A section that a server runs may wait, as other threads of the server go on; a combiner has none
 * to go on with. */
static void unlock_in_section(relock_mutex_t *mutex) {
  const bool timed = relock_is_timed(mutex);
  relock_store_relaxed(&mutex->relock_private.owner,
                       timed ? relock_times_arrive(relock_own_record, 0).mark : 0);
  if (!relock_server_begin_wait(mutex))
    relock_panic("relock_cond_wait: called from a section that runs under the same mutex %p by "
                 "relock_execute; wait with RELOCK_COND_WAIT in a section that is run by "
                 "relock_execute_resumable, or hold the mutex with relock_mutex_lock around this "
                 "section instead",
                 (void *)mutex);
}

/* The section goes on, and is no holder: whoever runs it releases the mutex. */
static void go_on_in_section(relock_mutex_t *mutex) {
  relock_store_relaxed(&mutex->relock_private.executing, RELOCK_EXECUTING_ALONE);
  if (relock_is_timed(mutex))
    relock_times_release(relock_thread_self(), mutex);
}

static int wait_on(relock_cond_t *cond, relock_mutex_t *mutex, clockid_t clock,
                   const struct timespec *deadline) {
  if (!may_hold(mutex))
    return EPERM;
  bool in_section = relock_executing(mutex) || relock_server_executes(mutex);
  int error = relock_cond_check_time(clock, deadline);
  if (error)
    return error;
  struct relock_cond_waiter waiter;
  relock_cond_enlist(cond, mutex, &waiter);
  if (in_section)
    unlock_in_section(mutex);
  else
    relock_mutex_unlock(mutex);
  error = relock_cond_sleep(cond, mutex, &waiter, clock, deadline);
  relock_mutex_lock(mutex);
  if (in_section)
    go_on_in_section(mutex);
  return error;
}

int relock_cond_wait(relock_cond_t *cond, relock_mutex_t *mutex) {
  return wait_on(cond, mutex, CLOCK_MONOTONIC, NULL);
}

int relock_cond_timedwait(relock_cond_t *cond, relock_mutex_t *mutex,
                          const struct timespec *deadline) {
  return wait_on(cond, mutex, (clockid_t)cond->relock_private.clock, deadline);
}

int relock_cond_clockwait(relock_cond_t *cond, relock_mutex_t *mutex, clockid_t clock,
                          const struct timespec *deadline) {
  return wait_on(cond, mutex, clock, deadline);
}

/* --- lifetime -------------------------------------------------------------------------------- */

int relock_cond_init(relock_cond_t *cond, const pthread_condattr_t *attributes) {
  clockid_t clock = CLOCK_REALTIME;
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes) {
    pthread_condattr_getpshared(attributes, &shared);
    int error = pthread_condattr_getclock(attributes, &clock);
    if (error)
      return error;
  }
  if (shared != PTHREAD_PROCESS_PRIVATE)
    return ENOTSUP;
  memset(cond, 0, sizeof *cond);
  cond->relock_private.clock = (uint32_t)clock;
  cond->relock_private.generation = relock_generation();
  return 0;
}

static bool is_waited_for(relock_cond_t *cond) {
  for (struct relock_cond_waiter *each = cond->relock_private.first; each; each = each->next)
    if (relock_load_relaxed(&each->state) == WAITING)
      return true;
  return false;
}

/* Always by the lock, so that whoever had it before, and used the memory, is done with it. */
int relock_cond_destroy(relock_cond_t *cond) {
  uint32_t *destroyer = &cond->relock_private.destroyer;
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  for (;;) {
    open_list(cond);
    bool busy = is_waited_for(cond), left = !cond->relock_private.first;
    if (!busy && !left)
      relock_store_relaxed(destroyer, 1);
    close_list(cond);
    if (!busy && left && relock_is_watched())
      relock_annotate_end(cond, sizeof *cond);
    if (busy || left)
      return busy ? EBUSY : 0;
    if (!relock_wait_again(&wait))
      relock_wait_park(&wait, destroyer, 1, CLOCK_MONOTONIC, NULL);
  }
}
