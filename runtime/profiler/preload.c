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
#include "events.h"
#include "nesting.h"
#include "real.h"
#include "record.h"
#include "sample.h"
#include "timeline.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state { NEW, STARTING, RECORDING, OFF };

static atomic_int state;
static pthread_key_t thread_end;
static __thread struct thread *self;
/* Set while the profiler works: whatever it calls, and signal handlers on top of it, pass. */
static __thread bool inside;
static __thread bool ended;

static void finish_thread(void *argument) {
  if (self && atomic_load_explicit(&state, memory_order_relaxed) == RECORDING) {
    inside = true;
    thread_finish(argument, relock_ticks());
    self = NULL;
    ended = true;
    inside = false;
  }
}

static void attach(struct thread *thread) {
  self = thread;
  thread_begin(thread, relock_ticks(), ended);
  pthread_setspecific(thread_end, thread);
}

static void before_fork(void) {
  if (atomic_load(&state) != RECORDING || inside)
    return;
  record_lock();
  record_before_fork(self);
}

static void after_fork_parent(void) {
  if (atomic_load(&state) == RECORDING && !inside)
    record_unlock();
}

static void after_fork_child(void) {
  if (atomic_load(&state) != RECORDING)
    return;
  if (inside) { /* a signal handler forks: the tables may be half changed */
    count_drop(&header->unrecorded_children);
    atomic_store(&state, OFF);
    return;
  }
  record_unlock();
  if (!record_restart(self))
    atomic_store(&state, OFF);
}

/* The calling thread's records, or null when this call is not to be recorded. */
static struct thread *enter(void);
static void leave(void) { inside = false; }

static void take(struct thread *thread, struct relock_object *object, uint64_t before,
                 uint64_t after, bool tried) {
  struct relock_counts *counts = &object->counts;
  struct relock_thread *record = thread->record;
  if (counts->last_owner != record->id) {
    counts->handovers += counts->last_owner != 0;
    counts->last_owner = record->id;
  }
  counts->owner = record->id;
  counts->depth = 1;
  counts->hold_start = after;
  if (!record->section_start) {
    record->section_start = before;
    record->sections++;
  }
  if (thread->held_count)
    nesting_count(thread, object, tried);
  if (thread->held_count < HELD_MAX)
    thread->held[thread->held_count++] = object;
  else
    count_drop(&header->dropped_nestings); /* those inside it */
}

/* Ends a hold; the value of `now` is also the end of the section if nothing else is held. */
static uint64_t drop(struct thread *thread, struct relock_object *object, uint64_t now) {
  struct relock_counts *counts = &object->counts;
  uint64_t hold = now - counts->hold_start;
  uint32_t kept = 0;
  counts->hold += hold;
  counts->holds++;
  counts->owner = 0;
  counts->depth = 0;
  /* Also forgets what other threads have released meanwhile. */
  for (uint32_t i = 0; i < thread->held_count; i++) {
    struct relock_object *held = thread->held[i];
    if (held != object && held->counts.owner == thread->record->id)
      thread->held[kept++] = held;
  }
  thread->held_count = kept;
  if (thread->pending_count)
    sample_released(thread, object, hold);
  if (!kept && !thread->read_count && thread->record->section_start) {
    thread->record->section_time += now - thread->record->section_start;
    thread->record->section_start = 0;
  }
  return hold;
}

static bool reenters(const struct thread *thread, const struct relock_object *object) {
  return object->counts.owner == thread->record->id;
}

static void reenter(struct relock_object *object) {
  object->counts.acquisitions++;
  object->counts.depth++;
  object->rare.reentries++;
}

/* A wait for a lock while nothing is held is section time too: acquisition included. */
static void wait_begins(struct thread *thread, uint64_t now) {
  if (!thread->record->section_start) {
    thread->record->section_start = now;
    thread->record->sections++;
  }
}

static void wait_failed(struct thread *thread, uint64_t now) {
  if (!thread->held_count && !thread->read_count && thread->record->section_start) {
    thread->record->section_time += now - thread->record->section_start;
    thread->record->section_start = 0;
  }
}

static bool acquired(int result) { return result == 0 || result == EOWNERDEAD; }

static struct relock_object *object_of(pthread_mutex_t *mutex) {
  struct relock_object *object = object_find(mutex);
  if (!object)
    object = object_create(mutex, false);
  if (!object)
    count_drop(&header->dropped_objects);
  return object;
}

static int wait_for(pthread_mutex_t *mutex, enum how how, clockid_t clock,
                    const struct timespec *until) {
  switch (how) {
  case PLAIN:
    return real.lock(mutex);
  case TIMED:
    return real.timedlock(mutex, until);
  default:
    return real.clocklock(mutex, clock, until);
  }
}

static int record_contended(struct thread *thread, struct relock_object *object,
                            pthread_mutex_t *mutex, struct sample *sample, uint64_t before,
                            enum how how, clockid_t clock, const struct timespec *until) {
  uint32_t waiters;
  uint64_t after;
  int result;
  wait_begins(thread, before);
  if (sample_due(&thread->waits))
    sample_wait(thread, object, sample);
  waiters = __atomic_fetch_add(&object->waiting, 1, __ATOMIC_RELAXED);
  leave();
  result = wait_for(mutex, how, clock, until);
  inside = true;
  after = relock_ticks();
  __atomic_fetch_sub(&object->waiting, 1, __ATOMIC_RELAXED);
  if (acquired(result)) {
    object->counts.acquisitions++;
    object->counts.contended++;
    object->counts.wait += after - before;
    take(thread, object, before, after, false);
    if (sample->site)
      sample_acquired(thread, object, sample, after - before);
  } else {
    wait_failed(thread, after);
    if (result != ETIMEDOUT)
      return result; /* an error, such as relocking an error-checking mutex, is no wait */
    __atomic_fetch_add(&object->rare.timeouts, 1, __ATOMIC_RELAXED);
    if (sample->site)
      sample_gave_up(sample, after - before);
  }
  measure_wait(thread, object->group, after - before, waiters);
  timeline_add(thread, object->group, before, after - before);
  if (sample->event_weight && acquired(result))
    event_section_begins(thread, object, sample->event_weight);
  return result;
}

static int record_lock_operation(pthread_mutex_t *mutex, enum how how, clockid_t clock,
                                 const struct timespec *until) {
  struct thread *thread = enter();
  struct relock_object *object;
  struct sample sample = {NULL, 0, 0, 0};
  uint64_t before;
  int result;
  if (!thread)
    return wait_for(mutex, how, clock, until);
  object = object_of(mutex);
  if (!object) {
    leave();
    return wait_for(mutex, how, clock, until);
  }
  if (sample_due(&thread->acquisitions))
    sample = sample_acquisition(thread, object);
  if (event_due(thread))
    sample.event_weight = event_prepare(thread);
  before = relock_ticks();
  result = real.trylock(mutex);
  if (acquired(result)) {
    bool again = reenters(thread, object);
    if (again) {
      reenter(object);
    } else {
      object->counts.acquisitions++;
      take(thread, object, before, before, false);
    }
    if (sample.site)
      sample_acquired(thread, object, &sample, 0);
    if (sample.event_weight && !again)
      event_section_begins(thread, object, sample.event_weight);
  } else if (result == EBUSY) {
    result = record_contended(thread, object, mutex, &sample, before, how, clock, until);
  } else {
    leave(); /* let the operation that was asked for say what is wrong */
    return wait_for(mutex, how, clock, until);
  }
  leave();
  return result;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex) {
  return record_lock_operation(mutex, PLAIN, 0, NULL);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                   const struct timespec *restrict until) {
  return record_lock_operation(mutex, TIMED, 0, until);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                   const struct timespec *restrict until) {
  if (!is_clock(clock)) {
    real_resolve();
    return real.clocklock(mutex, clock, until);
  }
  return record_lock_operation(mutex, CLOCKED, clock, until);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  struct thread *thread = enter();
  struct relock_object *object = thread ? object_of(mutex) : NULL;
  struct sample sample = {NULL, 0, 0, 0};
  uint64_t before;
  int result;
  if (!object) {
    if (thread)
      leave();
    return real.trylock(mutex);
  }
  if (sample_due(&thread->acquisitions))
    sample = sample_acquisition(thread, object);
  if (event_due(thread))
    sample.event_weight = event_prepare(thread);
  before = relock_ticks();
  result = real.trylock(mutex);
  if (acquired(result) && reenters(thread, object)) {
    reenter(object);
  } else if (acquired(result)) {
    object->counts.acquisitions++;
    take(thread, object, before, before, true);
  }
  if (acquired(result) && sample.site) {
    sample_acquired(thread, object, &sample, 0);
  } else if (result == EBUSY) {
    __atomic_fetch_add(&object->rare.trylock_failures, 1, __ATOMIC_RELAXED);
  }
  if (sample.event_weight && acquired(result) && object->counts.depth == 1)
    event_section_begins(thread, object, sample.event_weight);
  leave();
  return result;
}

/* Released by a thread that did not acquire it: legal for no type, yet seen with normal ones.
 * A type that checks refuses, and its owner's hold goes on. */
static int release_foreign(struct thread *thread, struct relock_object *object,
                           pthread_mutex_t *mutex) {
  struct relock_counts before = object->counts;
  uint32_t group = object->group;
  uint64_t hold = drop(thread, object, relock_ticks());
  int result = real.unlock(mutex);
  if (result) {
    object->counts.hold = before.hold;
    object->counts.holds = before.holds;
    object->counts.depth = before.depth;
    object->counts.owner = before.owner;
  } else {
    count_drop(&header->foreign_releases);
    measure(thread, group, RELOCK_HOLD, hold);
  }
  return result;
}

static int release(struct thread *thread, struct relock_object *object, pthread_mutex_t *mutex) {
  uint32_t group = object->group;
  uint64_t now, hold;
  int result;
  if (object->counts.depth > 1) {
    object->counts.depth--;
    return real.unlock(mutex);
  }
  now = relock_ticks();
  if (thread->events.count)
    now -= event_section_ends(thread, object);
  hold = drop(thread, object, now);
  /* From here on the mutex may be freed by whoever gets it next. */
  result = real.unlock(mutex);
  measure(thread, group, RELOCK_HOLD, hold);
  return result;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  struct thread *thread = enter();
  struct relock_object *object = thread ? object_find(mutex) : NULL;
  int result;
  if (object && object->counts.owner == thread->record->id)
    result = release(thread, object, mutex);
  else if (object && object->counts.owner)
    result = release_foreign(thread, object, mutex);
  else
    result = real.unlock(mutex);
  if (thread)
    leave();
  return result;
}

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  struct thread *thread = enter();
  int result = real.init(mutex, attributes);
  if (thread) {
    if (result == 0 && !object_create(mutex, true))
      count_drop(&header->dropped_objects);
    leave();
  }
  return result;
}

EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  struct thread *thread = enter();
  int result = real.destroy(mutex);
  if (thread) {
    if (result == 0)
      object_retire(mutex);
    leave();
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
  struct thread *thread = enter();
  struct relock_object *object = thread ? object_find(mutex) : NULL;
  uint64_t now;
  if (object && object->counts.owner == thread->record->id) {
    suspended.object = object;
    suspended.depth = object->counts.depth;
    now = relock_ticks();
    if (thread->events.count)
      now -= event_section_ends(thread, object);
    measure(thread, object->group, RELOCK_HOLD, drop(thread, object, now));
  }
  if (thread)
    leave();
  return suspended;
}

static void resume(struct suspended suspended) {
  struct thread *thread = suspended.object ? enter() : NULL;
  uint64_t now;
  if (!thread)
    return;
  now = relock_ticks();
  take(thread, suspended.object, now, now, false);
  suspended.object->counts.depth = suspended.depth;
  suspended.object->rare.cond_waits++;
  leave();
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
  struct thread *creator = enter();
  struct thread *thread = creator ? thread_take() : NULL;
  int result;
  if (creator)
    leave();
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
  struct thread *thread = enter();
  int result = real.setname(id, name);
  if (thread) {
    if (result == 0)
      thread_name(id, name);
    leave();
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

static uint64_t time_pairs(pthread_mutex_t *mutex, int (*lock)(pthread_mutex_t *),
                           int (*unlock)(pthread_mutex_t *)) {
  uint64_t best = UINT64_MAX;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t start = relock_ticks(), ticks;
    for (int pair = 0; pair < PAIRS; pair++) {
      lock(mutex);
      unlock(mutex);
    }
    ticks = relock_ticks() - start;
    best = ticks < best ? ticks : best;
  }
  return best * 1024 / PAIRS;
}

static void calibrate(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct relock_object *object;
  header->pair_plain = time_pairs(&mutex, real.lock, real.unlock);
  self->acquisitions.countdown = UINT64_MAX; /* what samples cost is measured by itself */
  header->pair_recorded = time_pairs(&mutex, pthread_mutex_lock, pthread_mutex_unlock);
  object = object_find(&mutex);
  if (!object)
    return;
  object_hide(object);
  header->pair_hold = object->counts.hold * 1024 / object->counts.holds;
  self->record->section_time = self->record->sections = self->record->sampling = 0;
  sample_begin(self);
  events_calibrate(self);
}

/* The first call may come from a constructor of another library, before ours. */
static bool start(void) {
  int expected = NEW, error = errno;
  if (!atomic_compare_exchange_strong(&state, &expected, STARTING))
    return false;
  inside = true;
  real_resolve();
  if (record_start() && pthread_key_create(&thread_end, finish_thread) == 0) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    on_exit(at_exit, NULL);
    self = thread_take();
    atomic_store(&state, self ? RECORDING : OFF);
  } else {
    atomic_store(&state, OFF);
  }
  inside = false;
  errno = error;
  if (atomic_load(&state) != RECORDING)
    return false;
  attach(self);
  calibrate();
  return true;
}

static struct thread *enter(void) {
  int now = atomic_load_explicit(&state, memory_order_acquire);
  if (now != RECORDING) {
    real_resolve();
    if (now != NEW || !start())
      return NULL;
  }
  if (inside) {
    count_drop(&header->dropped_nested);
    return NULL;
  }
  inside = true;
  if (!self) {
    struct thread *thread = thread_take();
    if (!thread) {
      inside = false;
      return NULL;
    }
    attach(thread);
  }
  return self;
}

/* What preload.h offers to the other primitives. */

struct thread *recording_enter(void) { return enter(); }
void recording_leave(void) { leave(); }
void recording_stop(void) {
  if (atomic_load(&state) != RECORDING)
    return;
  count_drop(&header->dropped_threads);
  atomic_store(&state, OFF);
}
void recording_attach(struct thread *thread) {
  inside = true;
  attach(thread);
  inside = false;
}

void hold_begins(struct thread *thread, struct relock_object *object, uint64_t before,
                 uint64_t after, bool tried) {
  take(thread, object, before, after, tried);
}
uint64_t hold_ends(struct thread *thread, struct relock_object *object, uint64_t now) {
  return drop(thread, object, now);
}
void section_begins(struct thread *thread, uint64_t now) { wait_begins(thread, now); }
void section_may_end(struct thread *thread, uint64_t now) { wait_failed(thread, now); }

struct relock_object *primitive_object(enum relock_primitive primitive, const void *address) {
  struct relock_object *object = primitive_find(primitive, address);
  if (!object)
    object = primitive_create(primitive, address, false);
  if (!object)
    count_drop(&header->dropped_objects);
  return object;
}

void primitive_initialised(enum relock_primitive primitive, const void *address) {
  if (!enter())
    return;
  if (!primitive_create(primitive, address, true))
    count_drop(&header->dropped_objects);
  leave();
}

void primitive_destroyed(enum relock_primitive primitive, const void *address) {
  if (!enter())
    return;
  primitive_retire(primitive, address);
  leave();
}

__attribute__((constructor)) static void begin(void) {
  struct thread *thread = enter();
  if (thread)
    leave();
}
