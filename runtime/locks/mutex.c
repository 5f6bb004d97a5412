/* SPDX-License-Identifier: MIT
 *
 * The mutex functions: types, errors and statistics, the same for all algorithms.
 *
 * Invariants of the typed mutexes (recursive, errorcheck): `owner` is the thread pointer of the
 * thread that holds the mutex or for which a section runs under it, and 0 when it is free. Only
 * the owner of the word writes it; a thread that reads its own pointer there is the owner, as
 * nobody else writes that value. `recursion` belongs to the owner.
 */
#define _GNU_SOURCE
#include "algorithm.h"
#include "queue.h"
#include "section.h"
#include "../base/class.h"
#include "../base/identity.h"
#include "../base/panic.h"
#include "../base/stats.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(relock_mutex_t) == sizeof(pthread_mutex_t), "takes its place in structs");
_Static_assert(_Alignof(relock_mutex_t) == _Alignof(pthread_mutex_t), "takes its place in structs");
_Static_assert((int)PTHREAD_MUTEX_NORMAL == RELOCK_TYPE_NORMAL, "zero-filled means normal");
_Static_assert((int)PTHREAD_MUTEX_RECURSIVE == RELOCK_TYPE_RECURSIVE, "the same values");
_Static_assert((int)PTHREAD_MUTEX_ERRORCHECK == RELOCK_TYPE_ERRORCHECK, "the same values");

static inline bool stats(void) { return RELOCK_UNLIKELY(relock_load_relaxed(&relock_stats_on)); }

static inline bool is_typed(const relock_mutex_t *mutex) {
  return RELOCK_UNLIKELY(mutex->relock_private.type != PTHREAD_MUTEX_NORMAL);
}

static inline bool is_recursive(const relock_mutex_t *mutex) {
  return mutex->relock_private.type == PTHREAD_MUTEX_RECURSIVE;
}

static bool is_owner(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.owner) == relock_thread_pointer();
}

static void set_owner(relock_mutex_t *mutex, uintptr_t owner) {
  relock_store_relaxed(&mutex->relock_private.owner, owner);
}

/* What a typed mutex answers to its owner: 0 when it is now held once more. */
static int lock_again(relock_mutex_t *mutex, int error_when_not_recursive) {
  if (!is_recursive(mutex))
    return error_when_not_recursive;
  if (mutex->relock_private.recursion == UINT32_MAX)
    return EAGAIN;
  mutex->relock_private.recursion++;
  return 0;
}

/* Book-keeping of a holder that has just taken the word. */
static int acquired(relock_mutex_t *mutex) {
  if (is_typed(mutex))
    set_owner(mutex, relock_thread_pointer());
  if (stats())
    relock_stats_count(mutex, RELOCK_COUNT_HELD, 1);
  return 0;
}

int relock_mutex_lock(relock_mutex_t *mutex) {
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  if (!relock_queue_try(mutex))
    relock_algorithm_of(mutex)->lock(mutex);
  return acquired(mutex);
}

int relock_mutex_trylock(relock_mutex_t *mutex) {
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EBUSY);
  return relock_word_try(&mutex->relock_private.word) ? acquired(mutex) : EBUSY;
}

int relock_mutex_clocklock(relock_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return EINVAL;
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  if (relock_queue_try(mutex))
    return acquired(mutex);
  if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000)
    return EINVAL;
  struct relock_wait wait;
  relock_wait_begin(&wait, mutex);
  int error = relock_word_wait(&mutex->relock_private.word, &wait, clock, deadline);
  relock_wait_end(&wait);
  return error ? error : acquired(mutex);
}

int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline) {
  return relock_mutex_clocklock(mutex, CLOCK_REALTIME, deadline);
}

int relock_mutex_unlock(relock_mutex_t *mutex) {
  if (is_typed(mutex)) {
    if (!is_owner(mutex))
      return EPERM;
    if (mutex->relock_private.recursion > 0) {
      mutex->relock_private.recursion--;
      return 0;
    }
    set_owner(mutex, 0);
  }
  relock_word_release(&mutex->relock_private.word);
  return 0;
}

/* A section of a typed mutex, wrapped to set the owner that the section sees. */
struct typed_section {
  relock_mutex_t *mutex;
  relock_section_t section;
  void *context;
};

static int run_typed(void *context) {
  struct typed_section *typed = context;
  set_owner(typed->mutex, relock_thread_pointer());
  int result = typed->section(typed->context);
  set_owner(typed->mutex, 0);
  return result;
}

static int execute_typed(relock_mutex_t *mutex, relock_section_t section, void *context,
                         bool as_client) {
  if (!is_owner(mutex)) {
    struct typed_section typed = {mutex, section, context};
    return relock_algorithm_of(mutex)->execute(mutex, run_typed, &typed, as_client);
  }
  if (lock_again(mutex, EDEADLK) != 0)
    relock_panic("relock_execute: the errorcheck mutex %p is already held by this thread; "
                 "release it first or make it recursive",
                 (void *)mutex);
  int result = section(context);
  mutex->relock_private.recursion--;
  return result;
}

static inline int execute(relock_mutex_t *mutex, relock_section_t section, void *context,
                          bool as_client) {
  if (stats())
    relock_stats_count(mutex, RELOCK_COUNT_EXECUTED, 1);
  if (is_typed(mutex))
    return execute_typed(mutex, section, context, as_client);
  return relock_algorithm_of(mutex)->execute(mutex, section, context, as_client);
}

int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return execute(mutex, section, context, true);
}

int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return execute(mutex, section, context, false);
}

/* Reads the type out of the attributes: 0, or why the mutex cannot have them. */
static int read_attributes(const pthread_mutexattr_t *attributes, uint16_t *type) {
  int value;
  if (pthread_mutexattr_getpshared(attributes, &value) == 0 && value != PTHREAD_PROCESS_PRIVATE)
    return ENOTSUP;
  if (pthread_mutexattr_getrobust(attributes, &value) == 0 && value != PTHREAD_MUTEX_STALLED)
    return ENOTSUP;
  if (pthread_mutexattr_getprotocol(attributes, &value) == 0 && value != PTHREAD_PRIO_NONE)
    return ENOTSUP;
  int error = pthread_mutexattr_gettype(attributes, &value);
  if (error)
    return error;
  switch (value) {
  case PTHREAD_MUTEX_NORMAL:
  case PTHREAD_MUTEX_RECURSIVE:
  case PTHREAD_MUTEX_ERRORCHECK:
    *type = (uint16_t)value;
    return 0;
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
  case PTHREAD_MUTEX_ADAPTIVE_NP:
    *type = PTHREAD_MUTEX_NORMAL;
    return 0;
#endif
  default:
    return EINVAL;
  }
}

int relock_mutex_init(relock_mutex_t *mutex, const pthread_mutexattr_t *attributes,
                      relock_class_t *lock_class) {
  uint16_t type = PTHREAD_MUTEX_NORMAL;
  int error = attributes ? read_attributes(attributes, &type) : 0;
  if (error)
    return error;
  memset(mutex, 0, sizeof *mutex);
  mutex->relock_private.lock_class = lock_class;
  mutex->relock_private.type = type;
  if (stats())
    relock_stats_count(mutex, RELOCK_COUNT_LOCKS, 0);
  return 0;
}

int relock_mutex_destroy(relock_mutex_t *mutex) {
  /* Acquire: pairs with the release in relock_word_release(), so that freeing the memory comes
   * after the last section. */
  return relock_load_acquire(&mutex->relock_private.word) == RELOCK_WORD_FREE ? 0 : EBUSY;
}
