/* SPDX-License-Identifier: MIT
 *
 * The mutex functions: types, errors and statistics, the same for all algorithms.
 *
 * Invariants of the typed mutexes (recursive, errorcheck): `owner` is the thread pointer of the
 * thread that holds the mutex or for which a section runs under it, and 0 when it is free. Only
 * the owner of the word writes it; a thread that reads its own pointer there is the owner, as
 * nobody else writes that value. `recursion` belongs to the owner. A timed mutex has something else
 * there when it is free, a normal one always: see struct relock_arrival, times.h.
 *
 * A mutex that is timed or watched is never FAST: it takes the long way everywhere.
 */
#define _GNU_SOURCE
#include "../base/annex.h"
#include "../base/annotate.h"
#include "../base/counters.h"
#include "../base/generation.h"
#include "../base/guard.h"
#include "../base/identity.h"
#include "../base/panic.h"
#include "../base/thread.h"
#include "../locks/algorithm.h"
#include "../locks/queue.h"
#include "../locks/section.h"
#include "../server/client.h"
#include "../server/lone.h"
#include "../statistics/times.h"
#include "choice.h"
#include "submit.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(relock_mutex_t) == sizeof(pthread_mutex_t), "takes its place in structs");
_Static_assert(_Alignof(relock_mutex_t) == _Alignof(pthread_mutex_t), "takes its place in structs");
_Static_assert((int)PTHREAD_MUTEX_NORMAL == RELOCK_TYPE_NORMAL, "zero-filled means normal");
_Static_assert((int)PTHREAD_MUTEX_RECURSIVE == RELOCK_TYPE_RECURSIVE, "the same values");
_Static_assert((int)PTHREAD_MUTEX_ERRORCHECK == RELOCK_TYPE_ERRORCHECK, "the same values");

enum {
  TYPE_MASK = RELOCK_KIND_TYPE,
  SEEN = RELOCK_KIND_SEEN,
  TIMED = RELOCK_KIND_TIMED,
  TELLS = RELOCK_KIND_TELLS,
  WATCHED = RELOCK_KIND_WATCHED
};
enum { FAST = PTHREAD_MUTEX_NORMAL | SEEN };

static inline int kind_of(const relock_mutex_t *mutex) {
  return relock_load_relaxed(&mutex->relock_private.kind);
}

/* No type, neither timed nor watched, nobody to be told, no section runs under it, and no wake-up
 * is owed. */
static inline bool is_plainly_held(const relock_mutex_t *mutex) {
  return !(kind_of(mutex) & (TYPE_MASK | TIMED | TELLS | WATCHED)) &&
         !relock_load_relaxed(&mutex->relock_private.executing);
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

/* Returns the caller's record, which may be null. */
static inline struct relock_thread *count(const relock_class_t *lock_class,
                                          enum relock_counter counter) {
  struct relock_thread *self = relock_thread_self();
  const uint32_t index = lock_class->relock_index;
  struct relock_counters *counters = self ? relock_counters_of(self, index) : NULL;
  if (RELOCK_LIKELY(counters != NULL))
    relock_count_own(&counters->value[counter], 1);
  else
    relock_stats_count(self, index, counter, 1);
  return self;
}

/* A holder has taken the word. */
static inline void count_holder(relock_mutex_t *mutex, const relock_class_t *lock_class) {
  relock_set_holder(mutex, count(lock_class, RELOCK_COUNT_HELD));
}

/* Counts a mutex that was never initialised by a call when it is used for the first time. */
static void see(relock_mutex_t *mutex, relock_class_t *lock_class) {
  if (kind_of(mutex) & SEEN)
    return;
  uint8_t seen = relock_load_relaxed(&relock_stats_timed) ? SEEN | TIMED : SEEN;
  if (relock_is_watched()) {
    seen |= WATCHED;
    relock_annotate_own(mutex, sizeof *mutex);
  }
  /* Release: pairs with the acquire in take_plainly(). The class is registered. */
  if (!(relock_or_release(&mutex->relock_private.kind, seen) & SEEN))
    relock_add_relaxed(&lock_class->relock_mutexes, 1);
}

/* Whether `tail` and `open` are this process's, and not what its parent's waiters have left. */
static inline bool is_of_this_process(const relock_mutex_t *mutex) {
  /* Acquire: pairs with the release in forget_old_waiters(). */
  return relock_load_acquire(&mutex->relock_private.generation) == (uint16_t)relock_generation();
}

/* By the first that waits for a mutex in a forked child. None of those waiters exists here. */
static void forget_old_waiters(relock_mutex_t *mutex) {
  if (RELOCK_LIKELY(is_of_this_process(mutex)))
    return;
  const uint16_t now = (uint16_t)relock_generation();
  relock_guard_take(RELOCK_GUARD_OLD_WAITERS);
  if (relock_load_relaxed(&mutex->relock_private.generation) != now) {
    relock_store_relaxed(&mutex->relock_private.tail, 0);
    relock_store_relaxed(&mutex->relock_private.open, 0);
    /* Release: pairs with the acquire in is_of_this_process(). */
    relock_store_release(&mutex->relock_private.generation, now);
  }
  relock_guard_release(RELOCK_GUARD_OLD_WAITERS);
}

/* What a typed mutex answers to its owner: 0 when it is now held once more. */
static int lock_again(relock_mutex_t *mutex, int error_when_not_recursive) {
  if (type_of(mutex) != PTHREAD_MUTEX_RECURSIVE)
    return error_when_not_recursive;
  if (mutex->relock_private.recursion == UINT32_MAX)
    return EAGAIN;
  mutex->relock_private.recursion++;
  if (relock_is_timed(mutex))
    relock_times_reentered(relock_thread_self(), relock_resolved_class_of(mutex));
  return 0;
}

/* Before a timed mutex is asked for. */
static inline void may_trace(struct relock_thread *self, const relock_class_t *lock_class,
                             struct relock_acquisition *acquisition) {
  if (RELOCK_UNLIKELY(self && self->traces))
    relock_times_trace(self, lock_class, acquisition);
}

/* Book-keeping of a holder that has just taken the word; of a mutex that is not timed. */
static inline int acquired(relock_mutex_t *mutex, relock_class_t *lock_class) {
  if (RELOCK_UNLIKELY(is_typed(mutex)))
    set_owner(mutex, relock_thread_pointer());
  count_holder(mutex, lock_class);
  return 0;
}

/* Of one that is. */
static inline int acquired_timed(relock_mutex_t *mutex, relock_class_t *lock_class,
                                 const struct relock_acquisition *acquisition) {
  const uintptr_t mark =
      relock_times_acquired(relock_thread_self(), mutex, lock_class, acquisition);
  set_owner(mutex, is_typed(mutex) ? relock_thread_pointer() : mark);
  count_holder(mutex, lock_class);
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

/* Takes the word by the mutex's algorithm; if it is watched, without a record, or in too deep a
 * nesting of waits, in competition with everybody. */
static void take_word(relock_mutex_t *mutex, const relock_class_t *lock_class) {
  struct relock_thread *self = relock_thread_self();
  forget_old_waiters(mutex);
  if (RELOCK_LIKELY(relock_thread_can_wait(self)) && !relock_mutex_is_watched(mutex))
    relock_load_relaxed(&lock_class->relock_ops)->lock(mutex, self);
  else
    wait_for_word(mutex, CLOCK_MONOTONIC, NULL);
}

/* Of the calling thread. */
static uint64_t times_contended(const relock_class_t *lock_class) {
  struct relock_thread *self = relock_thread_self();
  return self ? relock_stats_read(self, lock_class->relock_index, RELOCK_COUNT_CONTENDED) : 0;
}

static int lock_timed(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  struct relock_thread *self = relock_thread_self();
  struct relock_acquisition acquisition = {.caller = (uintptr_t)caller};
  may_trace(self, lock_class, &acquisition);
  if (relock_queue_try(mutex))
    return acquired_timed(mutex, lock_class, &acquisition);
  const uint64_t before = times_contended(lock_class), asked = relock_ticks();
  relock_times_trace_wait(self, lock_class, &acquisition);
  acquisition.waiters = relock_times_wait_begins(mutex);
  take_word(mutex, lock_class);
  relock_times_wait_ends(mutex);
  if (times_contended(lock_class) != before)
    acquisition.asked = asked;
  return acquired_timed(mutex, lock_class, &acquisition);
}

/* By a thread that does not own it. */
static inline int lock_anew(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  if (relock_is_timed(mutex))
    return lock_timed(mutex, lock_class, caller);
  if (!relock_queue_try(mutex))
    take_word(mutex, lock_class);
  return acquired(mutex, lock_class);
}

static int lock_watched(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  relock_annotate_locking(mutex, false);
  lock_anew(mutex, lock_class, caller);
  relock_annotate_locked(mutex, false);
  return 0;
}

static __attribute__((noinline)) int lock_slowly(relock_mutex_t *mutex, const void *caller) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  return relock_mutex_is_watched(mutex) ? lock_watched(mutex, lock_class, caller)
                                        : lock_anew(mutex, lock_class, caller);
}

/* The short way, for a mutex that nobody else wants: it calls no function, so that its callers need
 * no registers of theirs. False: nothing has changed; the long way settles, and decides. */
static inline bool take_plainly(relock_mutex_t *mutex, enum relock_counter counter) {
  if (relock_must_settle())
    return false;
  /* Acquire: pairs with the release in see(). */
  if (RELOCK_UNLIKELY(relock_load_acquire(&mutex->relock_private.kind) != FAST))
    return false;
  struct relock_thread *self = relock_own_record;
  const relock_class_t *lock_class = relock_class_of(mutex);
  if (RELOCK_UNLIKELY(!self ||
                      (counter == RELOCK_COUNT_EXECUTED && !relock_class_tries_first(lock_class))))
    return false;
  struct relock_counters *counters = relock_counters_of(self, lock_class->relock_index);
  uint32_t *word = &mutex->relock_private.word;
  if (RELOCK_UNLIKELY(!counters || !relock_queue_may_pass(mutex) ||
                      relock_load_relaxed(word) != RELOCK_WORD_FREE ||
                      !relock_word_take_free(word)))
    return false;
  relock_count_own(&counters->value[counter], 1);
  relock_set_holder(mutex, self);
  return true;
}

int relock_mutex_lock(relock_mutex_t *mutex) {
  if (RELOCK_LIKELY(take_plainly(mutex, RELOCK_COUNT_HELD)))
    return 0;
  return lock_slowly(mutex, __builtin_return_address(0));
}

static bool is_time(const struct timespec *time) {
  return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static int trylock_timed(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  struct relock_thread *self = relock_thread_self();
  struct relock_acquisition acquisition = {.caller = (uintptr_t)caller, .tried = true};
  may_trace(self, lock_class, &acquisition);
  if (relock_word_try(&mutex->relock_private.word))
    return acquired_timed(mutex, lock_class, &acquisition);
  relock_times_try_failed(self, lock_class);
  return EBUSY;
}

/* By a thread that does not own it. */
static inline int try_anew(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  if (relock_is_timed(mutex))
    return trylock_timed(mutex, lock_class, caller);
  return relock_word_try(&mutex->relock_private.word) ? acquired(mutex, lock_class) : EBUSY;
}

static int try_watched(relock_mutex_t *mutex, relock_class_t *lock_class, const void *caller) {
  relock_annotate_locking(mutex, true);
  const int error = try_anew(mutex, lock_class, caller);
  if (error)
    relock_annotate_not_locked(mutex);
  else
    relock_annotate_locked(mutex, true);
  return error;
}

int relock_mutex_trylock(relock_mutex_t *mutex) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EBUSY);
  return relock_mutex_is_watched(mutex)
             ? try_watched(mutex, lock_class, __builtin_return_address(0))
             : try_anew(mutex, lock_class, __builtin_return_address(0));
}

static int clocklock_timed(relock_mutex_t *mutex, relock_class_t *lock_class, clockid_t clock,
                           const struct timespec *deadline, const void *caller) {
  struct relock_thread *self = relock_thread_self();
  struct relock_acquisition acquisition = {.caller = (uintptr_t)caller};
  may_trace(self, lock_class, &acquisition);
  if (relock_queue_try(mutex))
    return acquired_timed(mutex, lock_class, &acquisition);
  if (!is_time(deadline))
    return EINVAL;
  acquisition.asked = relock_ticks();
  relock_times_trace_wait(self, lock_class, &acquisition);
  acquisition.waiters = relock_times_wait_begins(mutex);
  const int error = wait_for_word(mutex, clock, deadline);
  relock_times_wait_ends(mutex);
  if (!error)
    return acquired_timed(mutex, lock_class, &acquisition);
  relock_times_gave_up(self, lock_class, acquisition.asked, acquisition.waiters);
  return error;
}

static int lock_until(relock_mutex_t *mutex, relock_class_t *lock_class, clockid_t clock,
                      const struct timespec *deadline, const void *caller) {
  if (relock_is_timed(mutex))
    return clocklock_timed(mutex, lock_class, clock, deadline, caller);
  if (relock_queue_try(mutex))
    return acquired(mutex, lock_class);
  if (!is_time(deadline))
    return EINVAL;
  const int error = wait_for_word(mutex, clock, deadline);
  return error ? error : acquired(mutex, lock_class);
}

static int lock_watched_until(relock_mutex_t *mutex, relock_class_t *lock_class, clockid_t clock,
                              const struct timespec *deadline, const void *caller) {
  relock_annotate_locking(mutex, true);
  const int error = lock_until(mutex, lock_class, clock, deadline, caller);
  if (error)
    relock_annotate_not_locked(mutex);
  else
    relock_annotate_locked(mutex, true);
  return error;
}

static int clocklock(relock_mutex_t *mutex, clockid_t clock, const struct timespec *deadline,
                     const void *caller) {
  relock_settle();
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return EINVAL;
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  see(mutex, lock_class);
  if (is_typed(mutex) && is_owner(mutex))
    return lock_again(mutex, EDEADLK);
  return relock_mutex_is_watched(mutex)
             ? lock_watched_until(mutex, lock_class, clock, deadline, caller)
             : lock_until(mutex, lock_class, clock, deadline, caller);
}

int relock_mutex_clocklock(relock_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline) {
  return clocklock(mutex, clock, deadline, __builtin_return_address(0));
}

int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline) {
  return clocklock(mutex, CLOCK_REALTIME, deadline, __builtin_return_address(0));
}

static void release_timed(relock_mutex_t *mutex) {
  struct relock_thread *self = relock_thread_self();
  const struct relock_hold hold = relock_times_release(self, mutex);
  if (is_typed(mutex))
    set_owner(mutex, relock_times_arrive(self, 0).mark);
  relock_release_watched(mutex);
  relock_times_released(self, &hold);
}

/* The caller owns the word. It may be a cleanup handler of a section that its client ran in its
 * place and that was cancelled: the section ends with this. */
static int release_slowly(relock_mutex_t *mutex) {
  if (kind_of(mutex) & TELLS)
    relock_load_relaxed(&relock_resolved_class_of(mutex)->relock_ops)->release(mutex);
  struct relock_cond_waiter *owed =
      relock_is_holder(mutex) ? relock_sections_end(mutex) : relock_sections_end_for_holder(mutex);
  if (relock_is_timed(mutex)) {
    release_timed(mutex);
  } else {
    set_owner(mutex, 0);
    relock_release_watched(mutex);
  }
  relock_send_owed(owed);
  return 0;
}

static __attribute__((noinline)) int unlock_slowly(relock_mutex_t *mutex) {
  relock_settle();
  if (is_typed(mutex) && !is_owner(mutex))
    return EPERM;
  if (mutex->relock_private.recursion > 0) { /* of a recursive one */
    mutex->relock_private.recursion--;
    return 0;
  }
  return release_slowly(mutex);
}

int relock_mutex_unlock(relock_mutex_t *mutex) {
  if (relock_must_settle() || RELOCK_UNLIKELY(!is_plainly_held(mutex) || !relock_is_holder(mutex)))
    return unlock_slowly(mutex);
  relock_set_no_holder(mutex);
  return relock_word_release(&mutex->relock_private.word);
}

/* A cancellation point in a section would end the client while another thread runs the section
 * with its identity, or the combiner with others' sections left in its queue. */
static int run_uncancelled(const struct relock_algorithm *algorithm, relock_mutex_t *mutex,
                           struct relock_thread *self, const struct relock_call *call) {
  int previous;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
  self->asks += call->as_client;
  int result = algorithm->execute(mutex, self, call);
  self->asks -= call->as_client;
  pthread_setcancelstate(previous, NULL);
  return result;
}

static inline uint8_t executing_alone(const struct relock_algorithm *algorithm) {
  /* What a section may do on a server it may do without. */
  return algorithm->always_delegates ? RELOCK_EXECUTING_ALONE : RELOCK_EXECUTING;
}

/* By the owner of the word, who took it as a holder does: the algorithm is told of the end. */
static int run_as_holder(relock_mutex_t *mutex, const struct relock_algorithm *algorithm,
                         const struct relock_thread *self, const struct relock_call *call) {
  relock_sections_begin(mutex, executing_alone(algorithm), self);
  const int result = call->section(call->context);
  if (kind_of(mutex) & TELLS)
    algorithm->release(mutex);
  struct relock_cond_waiter *owed = relock_sections_end(mutex);
  relock_release_watched(mutex);
  relock_send_owed(owed);
  return result;
}

/* For a race detector, what another thread runs is as if it were that thread's. */
static int run_watched(relock_mutex_t *mutex, const relock_class_t *lock_class,
                       const struct relock_algorithm *algorithm, const struct relock_thread *self,
                       const struct relock_call *call) {
  relock_annotate_locking(mutex, false);
  if (!relock_queue_try(mutex))
    take_word(mutex, lock_class);
  relock_annotate_locked(mutex, false);
  return run_as_holder(mutex, algorithm, self, call);
}

/* Runs the call by the mutex's algorithm. */
static int run_by_algorithm(relock_mutex_t *mutex, relock_class_t *lock_class,
                            const struct relock_call *call) {
  const struct relock_algorithm *algorithm = relock_load_relaxed(&lock_class->relock_ops);
  struct relock_thread *self = relock_thread_self();
  if (relock_mutex_is_watched(mutex))
    return run_watched(mutex, lock_class, algorithm, self, call);
  forget_old_waiters(mutex);
  if (relock_class_tries_first(lock_class) && relock_queue_try(mutex))
    return relock_run_and_release(mutex, self, call->section, call->context);
  bool movable = !call->as_client || relock_identity_movable(self);
  if (algorithm->execute && movable && RELOCK_LIKELY(relock_thread_can_wait(self)))
    return run_uncancelled(algorithm, mutex, self, call);
  if (!relock_queue_try(mutex))
    take_word(mutex, lock_class);
  return run_as_holder(mutex, algorithm, self, call);
}

/* A section of a typed mutex, wrapped to set the owner that the section sees. */
struct typed_section {
  relock_mutex_t *mutex;
  relock_section_t section;
  void *context;
  relock_section_t asked_for; /* by the program, see relock_unwrapped_section() */
  enum relock_distance distance;
};
_Static_assert(sizeof(struct typed_section) <= RELOCK_COPY_MAX, "it travels in the request line");

static int run_typed(void *context) {
  struct typed_section *typed = context;
  set_owner(typed->mutex, relock_thread_pointer());
  int result = typed->section(typed->context);
  set_owner(typed->mutex, 0);
  return result;
}

/* The same if it is timed. */
static int run_typed_timed(void *context) {
  struct typed_section *typed = context;
  relock_times_wait_ends(typed->mutex);
  const uintptr_t before = relock_load_relaxed(&typed->mutex->relock_private.owner);
  const struct relock_arrival arrival = relock_times_arrive(relock_own_record, before);
  int result = run_typed(typed);
  typed->distance = arrival.distance;
  set_owner(typed->mutex, arrival.mark);
  return result;
}

static relock_section_t asked_for(relock_section_t section, const void *context);

/* By a thread that does not own it. */
static int execute_typed(relock_mutex_t *mutex, relock_class_t *lock_class,
                         const struct relock_call *call, enum relock_distance *distance) {
  struct typed_section typed = {mutex, call->section, call->context, NULL, RELOCK_SAME_THREAD};
  /* Nobody else wants it, and nobody times it: no other thread looks at what was asked for. */
  if (!distance && !relock_mutex_is_watched(mutex) && relock_class_tries_first(lock_class) &&
      relock_queue_try(mutex))
    return relock_run_and_release(mutex, relock_thread_self(), run_typed, &typed);
  typed.asked_for = asked_for(call->section, call->context);
  struct relock_call wrapped = {distance ? run_typed_timed : run_typed, &typed, sizeof typed,
                                call->as_client};
  int result = run_by_algorithm(mutex, lock_class, &wrapped);
  if (distance)
    *distance = typed.distance;
  return result;
}

static int execute_again(relock_mutex_t *mutex, const struct relock_call *call) {
  if (lock_again(mutex, EDEADLK) != 0)
    relock_panic("relock_execute: the errorcheck mutex %p is already held by this thread; "
                 "release it first or make it recursive",
                 (void *)mutex);
  int result = call->section(call->context);
  mutex->relock_private.recursion--;
  return result;
}

/* A section of a timed mutex, wrapped to read the clock where it runs. */
struct timed_section {
  relock_section_t section; /* the program's: of a step, the one that is resumed */
  void *context;
  relock_mutex_t *mutex;  /* null: an outer wrapper sees to where it comes from */
  uint64_t held;          /* without what it slept on condition variables */
  uint64_t when : 60;     /* its start; of a delegated one, from there to its end */
  uint64_t delegated : 1; /* it ran on another stack than its client's, where this began */
  uint64_t distance : 3;
};
_Static_assert(RELOCK_DISTANCES <= 8, "three bits");
_Static_assert(sizeof(struct timed_section) <= RELOCK_COPY_MAX, "it travels in the request line");

/* Frames of calls from its client's wait to a section that the client runs itself take less. */
enum { OWN_FRAMES = 8192 };

static inline int run_and_time(relock_section_t section, struct timed_section *timed) {
  const uintptr_t here = relock_frame(), there = (uintptr_t)timed;
  const uint64_t slept = relock_times_slept();
  if (timed->mutex) {
    relock_times_wait_ends(timed->mutex);
    uintptr_t *owner = &timed->mutex->relock_private.owner;
    const struct relock_arrival arrival =
        relock_times_arrive(relock_own_record, relock_load_relaxed(owner));
    relock_store_relaxed(owner, arrival.mark);
    timed->distance = arrival.distance;
  }
  const uint64_t start = relock_ticks();
  int result = section(timed->context);
  const uint64_t took = relock_ticks() - start;
  timed->held = took - (relock_times_slept() - slept);
  timed->delegated = here - there + OWN_FRAMES > 2 * OWN_FRAMES;
  timed->when = timed->delegated ? took : start;
  return result;
}

static int run_timed(void *context) {
  return run_and_time(((struct timed_section *)context)->section, context);
}

static int run_timed_step(void *context) { return run_and_time(relock_run_step, context); }

const struct relock_wrapper relock_wrappers[RELOCK_WRAPPERS] = {
    {run_timed, offsetof(struct timed_section, section), false},
    {run_timed_step, offsetof(struct timed_section, section), false},
    {run_typed, offsetof(struct typed_section, asked_for), false},
    {run_typed_timed, offsetof(struct typed_section, asked_for), false},
    {relock_run_step, offsetof(struct relock_step_call, section), false},
    {relock_run_submitted, offsetof(struct relock_timed_submission, section), true},
    {relock_run_chain, offsetof(struct relock_chain, section), false},
};

/* In the context itself: what that refers to may be gone, but for the memory of statistics. */
static relock_section_t asked_for(relock_section_t section, const void *context) {
  for (int i = 0; i < RELOCK_WRAPPERS; i++) {
    const struct relock_wrapper *wrapper = &relock_wrappers[i];
    if (section != wrapper->runs)
      continue;
    const char *wrapped = wrapper->by_pointer ? *(const char *const *)context : context;
    return *(const relock_section_t *)(const void *)(wrapped + wrapper->section);
  }
  return section;
}

relock_section_t relock_unwrapped_section(const struct relock_request *request) {
  return asked_for(request->section, request->context.copy);
}

/* What passed before the section began; if another thread ran it, also until its result was here.
 */
static uint64_t wait_for_section(const struct timed_section *timed, uint64_t asked, uint64_t now) {
  const uint64_t from = timed->delegated ? asked + timed->when : asked;
  const uint64_t until = timed->delegated ? now : timed->when;
  return until > from ? until - from : 0; /* clocks of two processors may differ */
}

/* By the owner of the word, which nobody else wanted: as a holder does. */
static int run_timed_here(relock_mutex_t *mutex, const relock_class_t *lock_class,
                          const struct relock_call *call,
                          const struct relock_acquisition *acquisition) {
  struct relock_thread *self = relock_thread_self();
  const uintptr_t mark = relock_times_acquired(self, mutex, lock_class, acquisition);
  set_owner(mutex, is_typed(mutex) ? relock_thread_pointer() : mark);
  relock_sections_begin(mutex, RELOCK_EXECUTING, self);
  int result = call->section(call->context);
  struct relock_cond_waiter *owed = relock_sections_end(mutex);
  const struct relock_hold hold = relock_times_release(self, mutex);
  if (is_typed(mutex))
    set_owner(mutex, mark);
  relock_word_release(&mutex->relock_private.word);
  relock_times_released(self, &hold);
  relock_send_owed(owed);
  return result;
}

static __attribute__((noinline)) int execute_timed(relock_mutex_t *mutex,
                                                   relock_class_t *lock_class,
                                                   const struct relock_call *call,
                                                   const void *caller) {
  struct relock_thread *self = relock_thread_self();
  const bool is_step = call->section == relock_run_step;
  if (is_step)
    caller = ((const struct relock_step_call *)call->context)->caller;
  struct timed_section timed = {.section = asked_for(call->section, call->context),
                                .context = call->context,
                                .mutex = is_typed(mutex) ? NULL : mutex};
  const struct relock_call wrapped = {is_step ? run_timed_step : run_timed, &timed, sizeof timed,
                                      call->as_client};
  struct relock_acquisition acquisition = {.section = (uintptr_t)timed.section,
                                           .caller = (uintptr_t)caller};
  may_trace(self, lock_class, &acquisition);
  if (relock_class_tries_first(lock_class) && !relock_mutex_is_watched(mutex) &&
      relock_queue_try(mutex))
    return run_timed_here(mutex, lock_class, call, &acquisition);
  const uint64_t asked = relock_ticks(), before = times_contended(lock_class);
  relock_times_trace_wait(self, lock_class, &acquisition);
  relock_times_execute(self, mutex, lock_class->relock_index, true, asked);
  acquisition.waiters = relock_times_wait_begins(mutex);
  const bool typed = is_typed(mutex); /* which is gone, perhaps, when its section is over */
  enum relock_distance distance = RELOCK_SAME_THREAD;
  int result = typed ? execute_typed(mutex, lock_class, &wrapped, &distance)
                     : run_by_algorithm(mutex, lock_class, &wrapped);
  distance = typed ? distance : timed.distance;
  const uint64_t now = relock_ticks();
  if (times_contended(lock_class) != before)
    acquisition.asked = asked;
  relock_times_executed(self, mutex, lock_class->relock_index, &acquisition,
                        wait_for_section(&timed, asked, now), timed.held, distance, now);
  return result;
}

static int execute_slowly(relock_mutex_t *mutex, relock_class_t *lock_class,
                          const struct relock_call *call, const void *caller) {
  see(mutex, lock_class);
  const int kind = kind_of(mutex);
  const bool typed = (kind & TYPE_MASK) != PTHREAD_MUTEX_NORMAL;
  if (typed && is_owner(mutex))
    return execute_again(mutex, call);
  if (RELOCK_UNLIKELY(kind & TIMED))
    return execute_timed(mutex, lock_class, call, caller);
  return typed ? execute_typed(mutex, lock_class, call, NULL)
               : run_by_algorithm(mutex, lock_class, call);
}

/* By a class of rcl. False: the long way has to be taken. */
static inline bool execute_at_server(relock_mutex_t *mutex, const relock_class_t *lock_class,
                                     const struct relock_call *call, int *result) {
  if (kind_of(mutex) != FAST || !is_of_this_process(mutex))
    return false;
  struct relock_thread *self = relock_own_record;
  if (RELOCK_UNLIKELY(!self))
    return false;
  if (RELOCK_LIKELY(!self->rcl_share) && relock_lone_takes(mutex, self)) {
    count(lock_class, RELOCK_COUNT_EXECUTED);
    *result = relock_run_owned(RELOCK_EXECUTING_ALONE, mutex, self, call->section, call->context);
    return true;
  }
  if (!call->as_client) /* the section runs with the identity of a thread that nobody cancels */
    return relock_client_execute(mutex, lock_class, self, call, result);
  int previous;
  if (!relock_identity_movable(self))
    return false;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
  self->asks++;
  bool executed = relock_client_execute(mutex, lock_class, self, call, result);
  self->asks--;
  pthread_setcancelstate(previous, NULL);
  return executed;
}

/* A section that is not resumable would be left in its middle. */
static inline int final(int result) {
  if (RELOCK_UNLIKELY(result == RELOCK_WAITS))
    relock_panic("relock_execute: the section returned RELOCK_WAITS (it waits with "
                 "RELOCK_COND_WAIT); run it with relock_execute_resumable");
  return result;
}

/* How a section is passed on: twice the size of its context (0: by pointer), plus 1 as the client.
 */
static inline struct relock_call call_of(relock_section_t section, void *context, size_t how) {
  const size_t size = how / 2;
  return (struct relock_call){section, context, size <= RELOCK_COPY_MAX ? (uint32_t)size : 0,
                              how % 2};
}

/* Names that begin with relock_execute are for the debugger, which looks for the way out of the
 * runtime in a program without debug information: who asks for a section calls one of them. */
static __attribute__((noinline)) int relock_execute_long(relock_mutex_t *mutex,
                                                         relock_section_t section, void *context,
                                                         size_t how, const void *caller) {
  relock_settle();
  relock_class_t *lock_class = relock_resolved_class_of(mutex);
  const struct relock_call call = call_of(section, context, how);
  int result;
  if (relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl &&
      execute_at_server(mutex, lock_class, &call, &result))
    return final(result);
  count(lock_class, RELOCK_COUNT_EXECUTED);
  return final(execute_slowly(mutex, lock_class, &call, caller));
}

static inline int relock_execute_how(relock_mutex_t *mutex, relock_section_t section, void *context,
                                     size_t how, const void *caller) {
  if (RELOCK_LIKELY(take_plainly(mutex, RELOCK_COUNT_EXECUTED)))
    return final(relock_run_taken(RELOCK_EXECUTING, mutex, section, context));
  return relock_execute_long(mutex, section, context, how, caller);
}

int relock_execute_submitted(relock_mutex_t *mutex, const struct relock_call *call,
                             const void *caller) {
  return relock_execute_how(mutex, call->section, call->context, 2 * call->copied, caller);
}

int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return relock_execute_how(mutex, section, context, 1, __builtin_return_address(0));
}

int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context) {
  return relock_execute_how(mutex, section, context, 0, __builtin_return_address(0));
}

int relock_execute_copy(relock_mutex_t *mutex, relock_section_t section, void *context,
                        size_t size) {
  return relock_execute_how(mutex, section, context, 2 * size + 1, __builtin_return_address(0));
}

int relock_execute_copy_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context,
                                   size_t size) {
  return relock_execute_how(mutex, section, context, 2 * size, __builtin_return_address(0));
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
  if (relock_mutex_is_watched(mutex))
    relock_annotate_end(mutex, sizeof *mutex);
  return 0;
}
