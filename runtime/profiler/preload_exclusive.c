/* SPDX-License-Identifier: MIT
 *
 * Locks with one holder other than mutexes: spinlocks, and rwlocks for their writers.
 */
#define _GNU_SOURCE
#include "contended.h"
#include "events.h"
#include "hold.h"
#include "preload.h"
#include "real.h"
#include "store.h"

#include <errno.h>

static int lock_contended(const struct exclusive *kind, struct thread *thread,
                          struct relock_object *object, void *lock, struct sample *sample,
                          const struct patience *patience) {
  struct contended wait = contended_begins(thread, object, sample);
  uint32_t releaser = 0;
  uint64_t after;
  int result;
  recording_leave(thread);
  result = kind->wait(lock, patience);
  thread = recording_enter();
  after = contended_ends(&wait);
  if (!thread)
    return result;
  if (result == 0) {
    releaser = contended_acquired(&wait, thread, after);
  } else {
    if (section_may_end(thread))
      section_ends(thread, after);
    if (result == ETIMEDOUT)
      contended_timed_out(&wait);
  }
  if (result == 0 || result == ETIMEDOUT)
    contended_measure(&wait, thread, sample, releaser, result ? 0 : after, after);
  recording_leave(thread);
  return result;
}

/* The lock's object; entered if it is not null. */
static struct relock_object *enter_lock(enum relock_primitive primitive, const void *lock,
                                        struct thread **thread) {
  struct relock_object *object;
  *thread = recording_enter();
  if (!*thread)
    return NULL;
  object = primitive_object(primitive, lock);
  if (!object)
    recording_leave(*thread);
  return object;
}

static inline int attempt(const struct exclusive *kind, struct thread *thread,
                          struct relock_object *object, void *lock, bool tried) {
  int result = kind->attempt(lock);
  if (LIKELY(result == 0)) {
    object->counts.acquisitions++;
    hold_begins(thread, object, (struct timed){0, 0}, tried);
  }
  return result;
}

static NOINLINE int attempt_special(const struct exclusive *kind, struct thread *thread,
                                    struct relock_object *object, void *lock,
                                    struct special *special, bool tried) {
  struct timed timed;
  int result;
  hold_prepare(thread, object, false, special);
  result = kind->attempt(lock);
  if (result == 0) {
    timed = hold_timed(object, special);
    object->counts.acquisitions++;
    hold_begins_timed(thread, object, timed, tried);
    sample_acquired(thread, object, &special->sample, timed.start, 0);
  }
  return result;
}

/* The attempt to lock gave that result; leaves. */
static NOINLINE int lock_attempted(const struct exclusive *kind, struct thread *thread,
                                   struct relock_object *object, void *lock, struct sample *sample,
                                   int result, const struct patience *patience) {
  if (result == EBUSY)
    return lock_contended(kind, thread, object, lock, sample, patience);
  recording_leave(thread);
  return result ? kind->wait(lock, patience) : 0;
}

static NOINLINE int lock_special(const struct exclusive *kind, struct thread *thread,
                                 struct relock_object *object, void *lock,
                                 const struct patience *patience) {
  struct special special;
  int result = attempt_special(kind, thread, object, lock, &special, false);
  return lock_attempted(kind, thread, object, lock, &special.sample, result, patience);
}

static NOINLINE int lock_refused(const struct exclusive *kind, struct thread *thread,
                                 struct relock_object *object, void *lock, int result,
                                 const struct patience *patience) {
  struct sample none = {.site = NULL};
  return lock_attempted(kind, thread, object, lock, &none, result, patience);
}

int exclusive_lock(const struct exclusive *kind, void *lock, const struct patience *patience) {
  struct thread *thread = NULL;
  struct relock_object *object;
  int result;
  object = is_valid(patience) ? enter_lock(kind->primitive, lock, &thread) : NULL;
  if (UNLIKELY(!object)) {
    real_resolve();
    return kind->wait(lock, patience);
  }
  if (hold_is_special(thread, object))
    return lock_special(kind, thread, object, lock, patience);
  result = attempt(kind, thread, object, lock, false);
  if (UNLIKELY(result))
    return lock_refused(kind, thread, object, lock, result, patience);
  recording_leave(thread);
  return 0;
}

int exclusive_trylock(const struct exclusive *kind, void *lock) {
  struct thread *thread;
  struct relock_object *object = enter_lock(kind->primitive, lock, &thread);
  struct special special;
  int result;
  if (!object)
    return kind->attempt(lock);
  if (hold_is_special(thread, object))
    result = attempt_special(kind, thread, object, lock, &special, true);
  else
    result = attempt(kind, thread, object, lock, true);
  if (result == EBUSY)
    __atomic_fetch_add(&object->rare.trylock_failures, 1, __ATOMIC_RELAXED);
  recording_leave(thread);
  return result;
}

/* More than one call is to be made. */
static NOINLINE int release_special(const struct exclusive *kind, struct thread *thread,
                                    struct relock_object *object, void *lock) {
  uint32_t group = object->group;
  bool foreign = !holds(thread, object);
  uint64_t own = foreign ? 0 : event_section_ends(thread, object, object->counts.hold_start);
  struct hold hold = hold_ends(thread, object, own);
  /* From here on the lock may be freed by whoever gets it next. */
  int result = kind->release(lock);
  if (foreign)
    count_drop(&header->foreign_releases);
  hold_measure(thread, group, hold);
  return result;
}

int exclusive_unlock(const struct exclusive *kind, struct thread *thread,
                     struct relock_object *object, void *lock) {
  if (UNLIKELY(!is_innermost(thread, object)) ||
      UNLIKELY(!hold_is_plain(thread, &thread->held[thread->held_count - 1], lock)))
    return release_special(kind, thread, object, lock);
  hold_counted_plain(thread, object);
  return kind->release(lock);
}

/* Spinlocks. */

static int attempt_spin(void *lock) { return real.spin_trylock(lock); }
static int release_spin(void *lock) { return real.spin_unlock(lock); }
static int wait_spinning(void *lock, const struct patience *patience) {
  (void)patience;
  return real.spin_lock(lock);
}

static const struct exclusive spin = {RELOCK_SPINLOCK, attempt_spin, wait_spinning, release_spin};

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
  return exclusive_lock(&spin, (void *)lock, &(struct patience){.how = PLAIN});
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock) {
  return exclusive_trylock(&spin, (void *)lock);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
  struct thread *thread = recording_enter();
  struct relock_object *object =
      thread ? hold_find(thread, RELOCK_SPINLOCK, (const void *)lock) : NULL;
  int result;
  if (object && is_held(object))
    result = exclusive_unlock(&spin, thread, object, (void *)lock);
  else
    result = real.spin_unlock(lock);
  if (thread)
    recording_leave(thread);
  return result;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
  int result;
  real_resolve();
  result = real.spin_init(lock, shared);
  if (result == 0)
    primitive_initialised(RELOCK_SPINLOCK, (const void *)lock);
  return result;
}

EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock) {
  int result;
  real_resolve();
  result = real.spin_destroy(lock);
  if (result == 0)
    primitive_destroyed(RELOCK_SPINLOCK, (const void *)lock);
  return result;
}
