/* SPDX-License-Identifier: MIT
 *
 * Condition variables, for holders of mutexes of any algorithm: a list of waiters, each with its
 * own futex on its own stack, under a small lock.
 *
 *                     signal or broadcast takes it off the list
 *   LISTED ----------------------------------------------------> SIGNALLED
 *      `-- deadline or cancellation: takes itself off the list
 *
 * Invariants
 *  - A waiter is on the list before it releases the mutex. A signal that follows a change made
 *    under the mutex therefore finds every waiter that has seen the state before the change: no
 *    wake-up is lost.
 *  - Whoever takes a waiter off the list, under the list's lock, has its wake-up: a signal wakes
 *    exactly one thread that waited before it, and a deadline or cancellation that loses the race
 *    against a signal is a wake-up (or passes it on).
 *  - A signalled waiter does not touch the condition variable again, so that it may be destroyed.
 *
 * The list's lock is tagged with the fork generation. In a child, a lock word of an older
 * generation is free and its list empty: its holder and its waiters do not exist.
 */
#include "../base/fork.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/wait.h"
#include "section.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(relock_cond_t) == sizeof(pthread_cond_t), "takes its place in structs");
_Static_assert(_Alignof(relock_cond_t) == _Alignof(pthread_cond_t), "takes its place in structs");
_Static_assert(CLOCK_REALTIME == 0, "a zero-filled condition variable uses CLOCK_REALTIME");

enum { LISTED, SIGNALLED };

struct waiter {
  struct waiter *next, *previous;
  bool listed;    /* guarded by the list's lock */
  uint32_t state; /* a futex */
};

/* The list's lock: FREE, HELD or PARKED as in word.h, in the low bits, generation above. */
static uint32_t lock_value(uint32_t state) { return relock_generation() << 2 | state; }

static bool list_try(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  uint32_t seen = relock_load_relaxed(lock);
  bool stale = seen >> 2 != lock_value(0) >> 2;
  if (!stale && seen != lock_value(RELOCK_WORD_FREE))
    return false;
  /* Acquire: pairs with the release in list_unlock(). */
  if (!relock_cas_acquire(lock, seen, lock_value(RELOCK_WORD_HELD)))
    return false;
  if (stale) {
    relock_store_relaxed(&cond->relock_private.first, NULL);
    cond->relock_private.last = NULL;
  }
  return true;
}

static void list_lock(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  do {
    if (list_try(cond))
      return;
  } while (relock_wait_again(&wait));
  /* The generation is current from here on: a try fails on a stale word only if another thread
   * has just replaced it. Acquire: pairs with the release in list_unlock(). */
  while (relock_exchange_acquire(lock, lock_value(RELOCK_WORD_PARKED)) !=
         lock_value(RELOCK_WORD_FREE))
    relock_wait_park(&wait, lock, lock_value(RELOCK_WORD_PARKED), CLOCK_MONOTONIC, NULL);
}

static void list_unlock(relock_cond_t *cond) {
  uint32_t *lock = &cond->relock_private.lock;
  /* Release: pairs with the acquires in list_try() and list_lock(). */
  if (relock_exchange_release(lock, lock_value(RELOCK_WORD_FREE)) == lock_value(RELOCK_WORD_PARKED))
    relock_os->futex_wake(lock, 1);
}

static void append(relock_cond_t *cond, struct waiter *waiter) {
  waiter->listed = true;
  waiter->next = NULL;
  waiter->previous = cond->relock_private.last;
  if (waiter->previous)
    waiter->previous->next = waiter;
  else
    relock_store_relaxed(&cond->relock_private.first, (void *)waiter);
  cond->relock_private.last = waiter;
}

static void take_off(relock_cond_t *cond, struct waiter *waiter) {
  waiter->listed = false;
  if (waiter->previous)
    waiter->previous->next = waiter->next;
  else
    relock_store_relaxed(&cond->relock_private.first, (void *)waiter->next);
  if (waiter->next)
    waiter->next->previous = waiter->previous;
  else
    cond->relock_private.last = waiter->previous;
}

static void wake(struct waiter *waiter) {
  uint32_t *futex = &waiter->state;
  /* Release: pairs with the acquire in sleep_until_signalled(). The waiter is gone with this. */
  relock_store_release(futex, SIGNALLED);
  relock_os->futex_wake(futex, 1);
}

/* Whether somebody may wait. A waiter that the caller's change of state concerns was listed before
 * that change, in the order of the mutex, so that this reads it without the lock. */
static bool is_empty(relock_cond_t *cond) {
  return relock_load_relaxed(&cond->relock_private.first) == NULL;
}

int relock_cond_signal(relock_cond_t *cond) {
  if (is_empty(cond))
    return 0;
  list_lock(cond);
  struct waiter *waiter = cond->relock_private.first;
  if (waiter)
    take_off(cond, waiter);
  list_unlock(cond);
  if (waiter)
    wake(waiter);
  return 0;
}

int relock_cond_broadcast(relock_cond_t *cond) {
  if (is_empty(cond))
    return 0;
  list_lock(cond);
  struct waiter *waiter = cond->relock_private.first;
  for (struct waiter *each = waiter; each; each = each->next)
    each->listed = false;
  relock_store_relaxed(&cond->relock_private.first, NULL);
  cond->relock_private.last = NULL;
  list_unlock(cond);
  while (waiter) {
    struct waiter *next = waiter->next; /* the waiter is gone once it is woken */
    wake(waiter);
    waiter = next;
  }
  return 0;
}

/* Takes the waiter off the list after a deadline or a cancellation. False: it was signalled. */
static bool give_up(relock_cond_t *cond, struct waiter *waiter) {
  list_lock(cond);
  bool listed = waiter->listed; /* `state` lags behind: a signal takes off, then wakes */
  if (listed)
    take_off(cond, waiter);
  list_unlock(cond);
  return listed;
}

static void await_wake(struct waiter *waiter) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  /* Acquire: pairs with the release in wake(). */
  while (relock_load_acquire(&waiter->state) != SIGNALLED)
    if (!relock_wait_again(&wait))
      relock_wait_park(&wait, &waiter->state, LISTED, CLOCK_MONOTONIC, NULL);
}

struct cancelled_wait {
  relock_cond_t *cond;
  relock_mutex_t *mutex;
  struct waiter *waiter;
  int error;
};

/* Cleanup of a thread cancelled in its sleep: consumes no signal and holds the mutex. */
static void cancelled(void *context) {
  struct cancelled_wait *self = context;
  if (!give_up(self->cond, self->waiter)) {
    await_wake(self->waiter);
    relock_cond_signal(self->cond);
  }
  relock_mutex_lock(self->mutex);
}

/* 0: signalled; ETIMEDOUT. The thread can be cancelled while it sleeps. */
static int sleep_until_signalled(struct waiter *waiter, clockid_t clock,
                                 const struct timespec *deadline) {
  int error = 0;
  /* Acquire: pairs with the release in wake(). */
  while (error == 0 && relock_load_acquire(&waiter->state) != SIGNALLED) {
    int previous;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &previous);
    error = relock_os->futex_wait(&waiter->state, LISTED, clock, deadline);
    pthread_setcanceltype(previous, NULL);
  }
  return error;
}

static int sleep_with_cleanup(struct cancelled_wait *self, clockid_t clock,
                              const struct timespec *deadline) {
  pthread_cleanup_push(cancelled, self);
  self->error = sleep_until_signalled(self->waiter, clock, deadline);
  pthread_cleanup_pop(0);
  return self->error;
}

static int wait_on(relock_cond_t *cond, relock_mutex_t *mutex, clockid_t clock,
                   const struct timespec *deadline) {
  if (relock_load_relaxed(&mutex->relock_private.executing))
    relock_panic("relock_cond_wait: called from a section that runs under the same mutex %p by "
                 "relock_execute; hold the mutex with relock_mutex_lock around this section "
                 "instead",
                 (void *)mutex);
  if (deadline && (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000))
    return EINVAL;
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return EINVAL;

  struct waiter waiter = {.state = LISTED};
  list_lock(cond);
  append(cond, &waiter);
  list_unlock(cond);
  int error = relock_mutex_unlock(mutex);
  if (error) {
    if (!give_up(cond, &waiter))
      await_wake(&waiter);
    return error;
  }

  struct cancelled_wait self = {cond, mutex, &waiter, 0};
  error = sleep_with_cleanup(&self, clock, deadline);
  if (error && !give_up(cond, &waiter)) {
    await_wake(&waiter);
    error = 0;
  }
  relock_mutex_lock(mutex);
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
  return 0;
}

int relock_cond_destroy(relock_cond_t *cond) {
  if (is_empty(cond))
    return 0;
  list_lock(cond); /* forgets waiters that a fork has left behind */
  bool empty = is_empty(cond);
  list_unlock(cond);
  return empty ? 0 : EBUSY;
}
