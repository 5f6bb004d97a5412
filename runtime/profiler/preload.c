/* SPDX-License-Identifier: MIT
 *
 * The interposed functions. Each takes a few ticks around the real one and leaves the program's
 * behaviour as it is: same results, same order, same cancellation points.
 *
 * A lock operation is tried first, so that only one that has to wait is timed as waiting. Counts
 * of a mutex are written by its holder in one cache line of its own, which travels with the
 * mutex; histograms belong to a thread and are written after the release. No line is contended
 * that was not contended before.
 */
#define _GNU_SOURCE
#include "preload.h"
#include "contended.h"
#include "events.h"
#include "hold.h"
#include "objects.h"
#include "real.h"
#include "record.h"
#include "sample.h"
#include "store.h"
#include "threads.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state { NEW, STARTING, RECORDING, OFF };

static atomic_int state;
static pthread_key_t thread_end;
static __thread struct thread *self;
static __thread bool starting; /* the thread's records are being made or finished */
static __thread bool ended;

static bool is_inside(void) { return starting || (self && !recording_ready); }

static void finish_thread(void *argument) {
  if (self && atomic_load_explicit(&state, memory_order_relaxed) == RECORDING) {
    starting = true;
    recording_ready = NULL;
    thread_finish(argument, relock_ticks());
    self = NULL;
    ended = true;
    starting = false;
  }
}

static void attach(struct thread *thread) {
  self = thread;
  thread_begin(thread, relock_ticks(), ended);
  pthread_setspecific(thread_end, thread);
}

static void before_fork(void) {
  if (atomic_load(&state) != RECORDING || is_inside())
    return;
  record_lock();
  record_before_fork(self);
}

static void after_fork_parent(void) {
  if (atomic_load(&state) == RECORDING && !is_inside())
    record_unlock();
}

/* This process has one thread. */
static void stop(void) {
  atomic_store(&state, OFF);
  recording_ready = NULL;
}

static void after_fork_child(void) {
  if (atomic_load(&state) != RECORDING)
    return;
  if (is_inside()) { /* a signal handler forks: the tables may be half changed */
    count_drop(&header->unrecorded_children);
    stop();
    return;
  }
  record_unlock();
  if (!record_restart(self))
    stop();
}

static bool acquired(int result) { return result == 0 || result == EOWNERDEAD; }

static int wait_for(pthread_mutex_t *mutex, const struct patience *patience) {
  switch (patience->how) {
  case PLAIN:
    return real.lock(mutex);
  case TIMED:
    return real.timedlock(mutex, patience->until);
  default:
    return real.clocklock(mutex, patience->clock, patience->until);
  }
}

static int record_contended(struct thread *thread, struct relock_object *object,
                            pthread_mutex_t *mutex, struct sample *sample,
                            const struct patience *patience) {
  struct contended wait = contended_begins(thread, object, sample);
  uint32_t releaser = 0;
  uint64_t after;
  int result;
  recording_leave(thread);
  result = wait_for(mutex, patience);
  recording_ready = NULL;
  after = contended_ends(&wait);
  if (acquired(result)) {
    releaser = contended_acquired(&wait, thread, after);
  } else {
    if (section_may_end(thread))
      section_ends(thread, after);
    if (result != ETIMEDOUT)
      return result; /* an error, such as relocking an error-checking mutex, is no wait */
    contended_timed_out(&wait);
  }
  contended_measure(&wait, thread, sample, releaser, acquired(result) ? after : 0, after);
  return result;
}

/* Returns whether a hold is to begin with it. */
static inline bool count_acquisition(struct thread *thread, struct relock_object *object) {
  object->counts.acquisitions++;
  if (LIKELY(!holds(thread, object)))
    return true;
  object->counts.depth++;
  object->rare.reentries++;
  return false;
}

static inline int attempt(struct thread *thread, struct relock_object *object,
                          pthread_mutex_t *mutex, bool tried) {
  int result = real.trylock(mutex);
  if (LIKELY(acquired(result)) && LIKELY(count_acquisition(thread, object)))
    hold_begins_timed(thread, object, (struct timed){0, 0}, tried);
  return result;
}

static NOINLINE int attempt_special(struct thread *thread, struct relock_object *object,
                                    pthread_mutex_t *mutex, struct special *special, bool tried) {
  struct timed timed = {0, 0};
  int result;
  hold_prepare(thread, object, false, special);
  result = real.trylock(mutex);
  if (!acquired(result))
    return result;
  if (count_acquisition(thread, object)) {
    timed = hold_timed(object, special);
    hold_begins_timed(thread, object, timed, tried);
  }
  sample_acquired(thread, object, &special->sample, timed.start, 0);
  return result;
}

/* The attempt to lock gave that result; leaves. */
static NOINLINE int lock_attempted(struct thread *thread, struct relock_object *object,
                                   pthread_mutex_t *mutex, struct sample *sample, int result,
                                   const struct patience *patience) {
  if (result == EBUSY) {
    result = record_contended(thread, object, mutex, sample, patience);
  } else if (!acquired(result)) {
    recording_leave(thread); /* let the operation that was asked for say what is wrong */
    return wait_for(mutex, patience);
  }
  recording_leave(thread);
  return result;
}

/* A try that has no object. */
static NOINLINE int try_unrecorded(struct thread *thread, pthread_mutex_t *mutex) {
  recording_leave(thread);
  return real.trylock(mutex);
}

static NOINLINE int try_attempted(struct thread *thread, struct relock_object *object, int result) {
  if (result == EBUSY)
    __atomic_fetch_add(&object->rare.trylock_failures, 1, __ATOMIC_RELAXED);
  recording_leave(thread);
  return result;
}

/* A null patience: it is a trylock. */
static NOINLINE int lock_special(struct thread *thread, pthread_mutex_t *mutex,
                                 const struct patience *patience) {
  struct special special = {.weight = 0};
  struct relock_object *object;
  int result;
  recording_ready = NULL;
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  object = primitive_object(RELOCK_MUTEX, mutex);
  if (!object) {
    thread->countdown++; /* it stays due */
    if (!patience)
      return try_unrecorded(thread, mutex);
    recording_leave(thread);
    return wait_for(mutex, patience);
  }
  if (!thread->countdown || object->counts.sure)
    result = attempt_special(thread, object, mutex, &special, !patience);
  else
    result = attempt(thread, object, mutex, !patience);
  if (!patience)
    return try_attempted(thread, object, result);
  return lock_attempted(thread, object, mutex, &special.sample, result, patience);
}

/* The attempt gave that result; if that is 0, the lock was held already, by this thread or, says
 * its record, by one that is gone. */
static NOINLINE int lock_refused(struct thread *thread, struct relock_object *object,
                                 pthread_mutex_t *mutex, int result,
                                 const struct patience *patience) {
  struct sample none = {.site = NULL};
  recording_ready = NULL;
  if (acquired(result) && count_acquisition(thread, object))
    hold_begins_timed(thread, object, (struct timed){0, 0}, !patience);
  if (!patience)
    return try_attempted(thread, object, result);
  return lock_attempted(thread, object, mutex, &none, result, patience);
}

/* The thread's records were not ready. */
static NOINLINE int lock_first(pthread_mutex_t *mutex, const struct patience *patience) {
  struct thread *thread = recording_enter_first();
  if (!thread)
    return patience ? wait_for(mutex, patience) : real.trylock(mutex);
  thread->countdown--;
  return lock_special(thread, mutex, patience);
}

/* A null patience: it is a trylock. The way that nearly all calls go: `recording_ready` stays,
 * since here, as in an unlock that is but a count, a signal handler may lock and unlock what it
 * likes after each store. */
static ALWAYS_INLINE int record_lock_operation(pthread_mutex_t *mutex,
                                               const struct patience *patience) {
  struct thread *thread = recording_ready;
  struct relock_object *object;
  int result;
  if (UNLIKELY(!thread))
    return lock_first(mutex, patience);
  __builtin_prefetch(mutex, 1); /* while its record is looked for */
  if (UNLIKELY(--thread->countdown == 0))
    return lock_special(thread, mutex, patience);
  if (UNLIKELY(lost_processor(thread))) {
    if (in_section(thread))
      return lock_special(thread, mutex, patience);
    /* As section_resumed() does, without a way into code that is seldom run: for a thread that
     * sleeps often. */
    processor_noticed(thread);
    clock_was_read(thread, relock_ticks_early());
  }
  object = primitive_plain(thread, RELOCK_MUTEX, mutex);
  if (UNLIKELY(!object))
    return lock_special(thread, mutex, patience);
  result = thread->trylock(mutex);
  if (UNLIKELY(result) || UNLIKELY(is_held(object)))
    return lock_refused(thread, object, mutex, result, patience);
  object->counts.acquisitions++;
  hold_begins(thread, object, (struct timed){0, 0}, !patience);
  return 0;
}

static const struct patience endless = {.how = PLAIN};

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex) {
  return record_lock_operation(mutex, &endless);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                   const struct timespec *restrict until) {
  return record_lock_operation(mutex, &(struct patience){TIMED, CLOCK_REALTIME, until});
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                   const struct timespec *restrict until) {
  if (!is_clock(clock)) {
    real_resolve();
    return real.clocklock(mutex, clock, until);
  }
  return record_lock_operation(mutex, &(struct patience){CLOCKED, clock, until});
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  return record_lock_operation(mutex, NULL);
}

/* Released by a thread that did not acquire it: legal for no type, yet seen with normal ones.
 * A type that checks refuses, and its owner's hold goes on. */
static int release_foreign(struct thread *thread, struct relock_object *object,
                           pthread_mutex_t *mutex) {
  struct relock_counts before = object->counts;
  struct relock_times times = object->times;
  uint32_t group = object->group;
  struct hold hold = hold_ends(thread, object, 0);
  int result = real.unlock(mutex);
  if (result) {
    object->times.hold = times.hold;
    object->times.weights = times.weights;
    object->counts.holds = before.holds;
    object->counts.depth = before.depth;
    object->counts.owner = before.owner;
  } else {
    count_drop(&header->foreign_releases);
    hold_measure(thread, group, hold);
  }
  return result;
}

static inline uint64_t count_section(struct thread *thread, const struct relock_object *object) {
  return event_section_ends(thread, object, object->counts.hold_start);
}

/* More than one call is to be made. */
static NOINLINE int release_special(struct thread *thread, struct relock_object *object,
                                    pthread_mutex_t *mutex) {
  uint32_t group = object->group;
  struct hold hold = hold_ends(thread, object, count_section(thread, object));
  /* From here on the mutex may be freed by whoever gets it next. */
  int result = real.unlock(mutex);
  hold_measure(thread, group, hold);
  recording_leave(thread);
  return result;
}

/* What is no plain end of a hold that began last. */
static NOINLINE int release_otherwise(struct thread *thread, pthread_mutex_t *mutex) {
  struct relock_object *object;
  int result;
  if (!thread)
    thread = recording_enter_first();
  if (!thread)
    return real.unlock(mutex);
  recording_ready = NULL;
  if (thread->held_count == 2 && hold_is_plain(thread, &thread->held[0], mutex)) {
    object = thread->held[0].object; /* hand over hand: the outer one first */
    thread->held[0] = thread->held[1];
    hold_counted_plain(thread, object);
    recording_leave(thread);
    return real.unlock(mutex);
  }
  object = hold_find(thread, RELOCK_MUTEX, mutex);
  if (object && holds(thread, object)) {
    if (object->counts.depth == 1)
      return release_special(thread, object, mutex);
    object->counts.depth--;
    result = real.unlock(mutex);
  } else if (object && is_held(object)) {
    result = release_foreign(thread, object, mutex);
  } else {
    result = real.unlock(mutex);
  }
  recording_leave(thread);
  return result;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  struct thread *thread = recording_ready;
  const struct held *last;
  if (UNLIKELY(!thread) || UNLIKELY(!thread->held_count))
    return release_otherwise(thread, mutex);
  last = &thread->held[thread->held_count - 1];
  if (UNLIKELY(!hold_is_plain(thread, last, mutex)))
    return release_otherwise(thread, mutex);
  hold_counted_plain(thread, last->object);
  return thread->unlock(mutex);
}

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  struct thread *thread = recording_enter();
  int result = real.init(mutex, attributes);
  if (thread) {
    if (result == 0 && !object_create(mutex, true))
      count_drop(&header->dropped_objects);
    recording_leave(thread);
  }
  return result;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  struct thread *thread = recording_enter();
  int result = real.destroy(mutex);
  if (thread) {
    if (result == 0)
      object_retire(mutex);
    recording_leave(thread);
  }
  return result;
}

/* A condition wait gives the mutex up: the hold ends here and a new one begins after it. What the
 * thread waits for in between is the condition, so none of it counts as waiting for the lock. */
struct suspended {
  struct relock_object *object;
  uint32_t depth;
};

static struct suspended suspend(pthread_mutex_t *mutex) {
  struct suspended suspended = {NULL, 0};
  struct thread *thread = recording_enter();
  struct relock_object *object = thread ? object_find(mutex) : NULL;
  if (object && holds(thread, object)) {
    suspended.object = object;
    suspended.depth = object->counts.depth;
    hold_measure(thread, object->group, hold_ends(thread, object, count_section(thread, object)));
  }
  if (thread)
    recording_leave(thread);
  return suspended;
}

static void resume(struct suspended suspended) {
  struct thread *thread = suspended.object ? recording_enter() : NULL;
  uint64_t now;
  if (!thread)
    return;
  now = relock_ticks();
  hold_begins_timed(thread, suspended.object, (struct timed){now, 1}, false);
  suspended.object->counts.depth = suspended.depth;
  suspended.object->rare.cond_waits++;
  recording_leave(thread);
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex) {
  struct suspended suspended = suspend(mutex);
  struct waiting waiting = condition_wait_begins(condition);
  int result = real.cond_wait(condition, mutex);
  condition_wait_ends(&waiting, result);
  resume(suspended);
  return result;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex,
                                  const struct timespec *restrict until) {
  struct suspended suspended = suspend(mutex);
  struct waiting waiting = condition_wait_begins(condition);
  int result = real.cond_timedwait(condition, mutex, until);
  condition_wait_ends(&waiting, result);
  resume(suspended);
  return result;
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                  pthread_mutex_t *restrict mutex, clockid_t clock,
                                  const struct timespec *restrict until) {
  struct suspended suspended = suspend(mutex);
  struct waiting waiting = condition_wait_begins(condition);
  int result = real.cond_clockwait(condition, mutex, clock, until);
  condition_wait_ends(&waiting, result);
  resume(suspended);
  return result;
}

static void *run_thread(void *argument) {
  struct thread *thread = argument;
  recording_attach(thread);
  return thread->start(thread->argument);
}

EXPORT int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attributes,
                          void *(*start)(void *), void *restrict argument) {
  struct thread *creator = recording_enter();
  struct thread *thread = creator ? thread_take() : NULL;
  int result;
  if (creator)
    recording_leave(creator);
  if (!thread)
    return real.create(id, attributes, start, argument);
  thread->start = start;
  thread->argument = argument;
  result = real.create(id, attributes, run_thread, thread);
  if (result)
    thread_give_back(thread);
  return result;
}

EXPORT int pthread_setname_np(pthread_t id, const char *name) {
  struct thread *thread = recording_enter();
  int result = real.setname(id, name);
  if (thread) {
    if (result == 0)
      thread_name(id, name);
    recording_leave(thread);
  }
  return result;
}

static void end(enum relock_end how, int status) {
  if (atomic_load(&state) == RECORDING)
    record_end(how, status);
}

/* Registered first, so it runs last: the program's own handlers and destructors lock too. */
static void at_exit(int status, void *unused) {
  (void)unused;
  end(RELOCK_END_EXIT, status);
}

EXPORT _Noreturn void _exit(int status) {
  real_resolve();
  end(RELOCK_END_QUICK, status);
  real.exit_now(status);
  __builtin_unreachable();
}

EXPORT _Noreturn void _Exit(int status) { _exit(status); }

EXPORT _Noreturn void quick_exit(int status) {
  real_resolve();
  end(RELOCK_END_QUICK, status);
  real.exit_quickly(status);
  __builtin_unreachable();
}

/* Times the profiler itself: the same pairs with and without it. The smallest of several rounds
 * is the one that nothing disturbed. */
enum { ROUNDS = 20, PAIRS = 100 };

/* `sum`: what to measure, ticks if it is null. */
static uint64_t time_pairs(pthread_mutex_t *mutex, int (*lock)(pthread_mutex_t *),
                           int (*unlock)(pthread_mutex_t *), const uint64_t *sum) {
  uint64_t best = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t start = sum ? *sum : relock_ticks(), grown;
    for (int pair = 0; pair < PAIRS; pair++) {
      lock(mutex);
      unlock(mutex);
    }
    grown = (sum ? *sum : relock_ticks()) - start;
    best = grown < best ? grown : best;
  }
  return best * 1024 / PAIRS;
}

static void calibrate(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct relock_object *object;
  /* In a process of one thread, as this still is, the real lock gets by without an atomic
   * operation, which trylock, recorded or not, never does. */
  header->pair_plain = time_pairs(&mutex, real.trylock, real.unlock, NULL);
  self->acquisitions.countdown = SAMPLE_NEVER; /* what samples cost is measured by itself */
  samples_await(self);
  timing_always(true);
  header->pair_timed = time_pairs(&mutex, pthread_mutex_lock, pthread_mutex_unlock, NULL);
  object = object_find(&mutex);
  if (!object)
    return;
  object_hide(object);
  header->pair_hold =
      time_pairs(&mutex, pthread_mutex_lock, pthread_mutex_unlock, &object->times.hold);
  hold_bias = header->pair_hold / 1024;
  timing_always(false);
  object->counts.sure = 0;
  object_mark_sure(object, false);
  self->timing.due.countdown = SAMPLE_NEVER;
  samples_await(self);
  header->pair_untimed = time_pairs(&mutex, pthread_mutex_lock, pthread_mutex_unlock, NULL);
  self->record->section_time = self->record->sections = self->record->sampling = 0;
  events_calibrate(self);
  sample_begin(self);
}

/* The first call may come from a constructor of another library, before ours. */
static bool start(void) {
  int expected = NEW, error = errno;
  if (!atomic_compare_exchange_strong(&state, &expected, STARTING))
    return false;
  starting = true;
  real_resolve();
  if (record_start() && pthread_key_create(&thread_end, finish_thread) == 0) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    on_exit(at_exit, NULL);
    self = thread_take();
    atomic_store(&state, self ? RECORDING : OFF);
  } else {
    atomic_store(&state, OFF);
  }
  if (self)
    attach(self);
  starting = false;
  if (self) {
    recording_leave(self);
    calibrate();
  }
  errno = error;
  return self != NULL;
}

/* This call finds the thread's records not ready for it. */
struct thread *recording_enter_first(void) {
  int now = atomic_load_explicit(&state, memory_order_acquire);
  struct thread *thread;
  if (now != RECORDING) {
    real_resolve();
    return now == NEW && start() ? recording_enter() : NULL;
  }
  if (is_inside()) {
    count_drop(&header->dropped_nested);
    return NULL;
  }
  starting = true;
  thread = thread_take();
  if (thread)
    attach(thread);
  starting = false;
  return thread;
}

void recording_stop(void) {
  if (atomic_load(&state) != RECORDING)
    return;
  count_drop(&header->dropped_threads);
  stop();
}

void recording_attach(struct thread *thread) {
  starting = true;
  attach(thread);
  starting = false;
  recording_leave(thread);
}

struct relock_object *primitive_object_first(enum relock_primitive primitive, const void *address) {
  struct relock_object *object = primitive_create(primitive, address, false);
  if (!object)
    count_drop(&header->dropped_objects);
  return object;
}

void primitive_initialised(enum relock_primitive primitive, const void *address) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  if (!primitive_create(primitive, address, true))
    count_drop(&header->dropped_objects);
  recording_leave(thread);
}

void primitive_destroyed(enum relock_primitive primitive, const void *address) {
  struct thread *thread = recording_enter();
  if (!thread)
    return;
  primitive_retire(primitive, address);
  recording_leave(thread);
}

__attribute__((constructor)) static void begin(void) {
  struct thread *thread = recording_enter();
  if (thread)
    recording_leave(thread);
}
