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
#include "../base/annex.h"
#include "../base/class.h"
#include "../base/fork.h"
#include "../base/identity.h"
#include "../base/panic.h"
#include "../base/stats.h"
#include "../base/thread.h"
#include "../server/client.h"
#include "../server/submit.h"
#include "algorithm.h"
#include "queue.h"
#include "section.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(relock_mutex_t) == sizeof(pthread_mutex_t), "takes its place in structs");
_Static_assert(_Alignof(relock_mutex_t) == _Alignof(pthread_mutex_t), "takes its place in structs");
_Static_assert((int)PTHREAD_MUTEX_NORMAL == RELOCK_TYPE_NORMAL, "zero-filled means normal");
_Static_assert((int)PTHREAD_MUTEX_RECURSIVE == RELOCK_TYPE_RECURSIVE, "the same values");
_Static_assert((int)PTHREAD_MUTEX_ERRORCHECK == RELOCK_TYPE_ERRORCHECK, "the same values");

enum { TYPE_MASK = RELOCK_KIND_TYPE, SEEN = RELOCK_KIND_SEEN };
enum { FAST = PTHREAD_MUTEX_NORMAL | SEEN };

static inline int kind_of(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.kind);
}

static inline int type_of(const relock_mutex_t *mutex) { return kind_of(mutex) & TYPE_MASK; }

static inline bool is_typed(const relock_mutex_t *mutex) {
  return type_of(mutex) != PTHREAD_MUTEX_NORMAL;
}

static bool is_owner(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.owner) == relock_thread_pointer();
}

static void set_owner(relock_mutex_t *mutex, uintptr_t owner) {
  relock_store_relaxed(&mutex->relock_private.owner, owner);
}

static inline void count(const relock_class_t *lock_class, enum relock_counter counter) {
  struct relock_thread *self = relock_thread_self();
  if (RELOCK_LIKELY(self && lock_class->relock_index < RELOCK_OWN_CLASSES))
    relock_count_own(&self->counters[lock_class->relock_index].value[counter], 1);
  else
    relock_stats_count(self, lock_class, counter, 1);
}

/* Counts a mutex that was never initialised by a call when it is used for the first time. */
static void see(relock_mutex_t *mutex, relock_class_t *lock_class) {
  if (!(kind_of(mutex) & SEEN) && !(relock_or_relaxed(&mutex->relock_private.kind, SEEN) & SEEN))
    relock_add_relaxed(&lock_class->relock_mutexes, 1);
}

/* Whether `tail` and `open` are this process's, and not what its parent's waiters have left. */
static inline bool is_of_this_process(const relock_mutex_t *mutex) {
  /* Acquire: pairs with the release in forget_old_waiters(). */
  return relock_load_acquire(&mutex->relock_private.generation) == (uint16_t)relock_generation();
}

/* By the first that waits for a mutex in a forked child. None of those waiters exists here. */
static void forget_old_waiters(relock_mutex_t *mutex) {
  static uint32_t word;
  if (RELOCK_LIKELY(is_of_this_process(mutex)))
    return;
  const uint16_t now = (uint16_t)relock_generation();
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&word, &wait, CLOCK_MONOTONIC, NULL);
  if (relock_load_relaxed(&mutex->relock_private.generation) != now) {
    relock_store_relaxed(&mutex->relock_private.tail, 0);
    relock_store_relaxed(&mutex->relock_private.open, 0);
    /* Release: pairs with the acquire in is_of_this_process(). */
    relock_store_release(&mutex->relock_private.generation, now);
  }
  relock_word_release(&word);
}

/* What a typed mutex answers to its owner: 0 when it is now held once more. */
static int lock_again(relock_mutex_t *mutex, int error_when_not_recursive) {
  if (type_of(mutex) != PTHREAD_MUTEX_RECURSIVE)
    return error_when_not_recursive;
  if (mutex->relock_private.recursion == UINT32_MAX)
    return EAGAIN;
  mutex->relock_private.recursion++;
  return 0;
}

/* Book-keeping of a holder that has just taken the word. */
static int acquired(relock_mutex_t *mutex, relock_class_t *lock_class) {
  if (is_typed(mutex))
    set_owner(mutex, relock_thread_pointer());
  count(lock_class, RELOCK_COUNT_HELD);
  return 0;
}

/* Takes the word in competition with everybody, as the algorithm posix and timed locks do. */
static int wait_for_word(relock_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
  struct relock_wait wait;
  relock_wait_begin(&wait, relock_thread_self(), mutex);
  int error = relock_word_wait(&mutex->relock_private.word, &wait, clock, deadline);
  relock_wait_end(&wait);
  return error;
}

/* Takes the word by the mutex's algorithm; without a record, or in too deep a nesting of waits,
 * in competition with everybody. */
static void take_word(relock_mutex_t *mutex, const relock_class_t *lock_class) {
  struct relock_thread *self = relock_thread_self();
  forget_old_waiters(mutex);
  if (RELOCK_LIKELY(relock_thread_can_wait(self)))
    relock_load_relaxed(&lock_class->relock_ops)->lock(mutex, self);
  else
    wait_for_word(mutex, CLOCK_MONOTONIC, NULL);
}

static __attribute__((noinline)) int lock_slowly(relock_mutex_t *mutex,
                                                 relock_class_t *lock_class) {
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  if (!relock_queue_try(mutex))
    take_word(mutex, lock_class);
  return acquired(mutex, lock_class);
}

int relock_mutex_lock(relock_mutex_t *mutex) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  if (RELOCK_UNLIKELY(kind_of(mutex) != FAST || !relock_queue_try(mutex)))
    return lock_slowly(mutex, lock_class);
  count(lock_class, RELOCK_COUNT_HELD);
  return 0;
}

int relock_mutex_trylock(relock_mutex_t *mutex) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EBUSY);
  return relock_word_try(&mutex->relock_private.word) ? acquired(mutex, lock_class) : EBUSY;
}

int relock_mutex_clocklock(relock_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline) {
  relock_settle();
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return EINVAL;
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  if (relock_queue_try(mutex))
    return acquired(mutex, lock_class);
  if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000)
    return EINVAL;
  int error = wait_for_word(mutex, clock, deadline);
  return error ? error : acquired(mutex, lock_class);
}

int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline) {
  return relock_mutex_clocklock(mutex, CLOCK_REALTIME, deadline);
}

int relock_mutex_unlock(relock_mutex_t *mutex) {
  relock_settle();
  if (RELOCK_UNLIKELY(is_typed(mutex))) {
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

/* A cancellation point in a section would end the client while another thread runs the section
 * with its identity, or the combiner with others' sections left in its queue. */
static int run_uncancelled(const struct relock_algorithm *algorithm, relock_mutex_t *mutex,
                           struct relock_thread *self, const struct relock_call *call) {
  int previous;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
  int result = algorithm->execute(mutex, self, call);
  pthread_setcancelstate(previous, NULL);
  return result;
}

/* Runs the call by the mutex's algorithm. */
static int run_by_algorithm(relock_mutex_t *mutex, relock_class_t *lock_class,
                            const struct relock_call *call) {
  const struct relock_algorithm *algorithm = relock_load_relaxed(&lock_class->relock_ops);
  struct relock_thread *self = relock_thread_self();
  forget_old_waiters(mutex);
  if (relock_load_relaxed(&lock_class->relock_flags) == 0 && relock_queue_try(mutex))
    return relock_run_and_release(mutex, call->section, call->context);
  bool movable = !call->as_client || relock_identity_switchable();
  if (algorithm->execute && movable && RELOCK_LIKELY(relock_thread_can_wait(self)))
    return run_uncancelled(algorithm, mutex, self, call);
  if (!relock_queue_try(mutex))
    take_word(mutex, lock_class);
  /* What a section may do on a server it may do without. */
  uint8_t executing = algorithm->always_delegates ? RELOCK_EXECUTING_ALONE : RELOCK_EXECUTING;
  return relock_run_owned(executing, mutex, call->section, call->context);
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

static int execute_typed(relock_mutex_t *mutex, relock_class_t *lock_class,
                         const struct relock_call *call) {
  if (!is_owner(mutex)) {
    struct typed_section typed = {mutex, call->section, call->context};
    struct relock_call wrapped = {run_typed, &typed, sizeof typed, call->as_client};
    return run_by_algorithm(mutex, lock_class, &wrapped);
  }
  if (lock_again(mutex, EDEADLK) != 0)
    relock_panic("relock_execute: the errorcheck mutex %p is already held by this thread; "
                 "release it first or make it recursive",
                 (void *)mutex);
  int result = call->section(call->context);
  mutex->relock_private.recursion--;
  return result;
}

static __attribute__((noinline)) int
execute_slowly(relock_mutex_t *mutex, relock_class_t *lock_class, const struct relock_call *call) {
  see(mutex, lock_class);
  if (is_typed(mutex))
    return execute_typed(mutex, lock_class, call);
  return run_by_algorithm(mutex, lock_class, call);
}

/* By a class of rcl. False: the long way has to be taken. */
static inline bool execute_at_server(relock_mutex_t *mutex, const relock_class_t *lock_class,
                                     const struct relock_call *call, int *result) {
  if (kind_of(mutex) != FAST || !is_of_this_process(mutex))
    return false;
  if (!call->as_client) /* the section runs with the identity of a thread that nobody cancels */
    return relock_client_execute(mutex, lock_class, call, result);
  int previous;
  if (!relock_identity_switchable())
    return false;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
  bool executed = relock_client_execute(mutex, lock_class, call, result);
  pthread_setcancelstate(previous, NULL);
  return executed;
}

static inline int execute(relock_mutex_t *mutex, relock_section_t section, void *context,
                          size_t copied, bool as_client) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  if (relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl) {
    const struct relock_call call = {section, context,
                                     copied <= RELOCK_COPY_MAX ? (uint32_t)copied : 0, as_client};
    int result;
    if (execute_at_server(mutex, lock_class, &call, &result))
      return result;
  }
  count(lock_class, RELOCK_COUNT_EXECUTED);
  bool try_first = kind_of(mutex) == FAST && relock_load_relaxed(&lock_class->relock_flags) == 0;
  if (RELOCK_LIKELY(try_first && relock_queue_try(mutex)))
    return relock_run_and_release(mutex, section, context);
  struct relock_call call = {section, context, copied <= RELOCK_COPY_MAX ? (uint32_t)copied : 0,
                             as_client};
  return execute_slowly(mutex, lock_class, &call);
}

/* A section that is not resumable would be left in its middle. */
static inline int final(int result) {
  if (RELOCK_UNLIKELY(result == RELOCK_WAITS))
    relock_panic("relock_execute: the section returned RELOCK_WAITS (it waits with "
                 "RELOCK_COND_WAIT); run it with relock_execute_resumable");
  return result;
}

int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return final(execute(mutex, section, context, 0, true));
}

int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return final(execute(mutex, section, context, 0, false));
}

int relock_execute_copy(relock_mutex_t *mutex, relock_section_t section, void *context,
                        size_t size) {
  return final(execute(mutex, section, context, size, true));
}

int relock_execute_copy_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context,
                                   size_t size) {
  return final(execute(mutex, section, context, size, false));
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
  mutex->relock_private.kind = (uint8_t)type;
  mutex->relock_private.generation = (uint16_t)relock_generation();
  see(mutex, relock_resolved_class_of(mutex));
  return 0;
}

int relock_mutex_destroy(relock_mutex_t *mutex) {
  relock_settle();
  /* Acquire: pairs with the release in relock_word_release(), so that freeing the memory comes
   * after the last section. */
  if (!relock_word_is_free(&mutex->relock_private.word))
    return EBUSY;
  if (relock_load_relaxed(&relock_resolved_class_of(mutex)->relock_ops)->has_annex) {
    forget_old_waiters(mutex);
    relock_annex_give_back(mutex);
  }
  return 0;
}
