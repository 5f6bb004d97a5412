/* SPDX-License-Identifier: MIT
 *
 * rwlocks. Writers are recorded as holders of a mutex are; readers hold at the same time, so
 * theirs go to a tally and to histograms of their thread.
 */
#define _GNU_SOURCE
#include "edge.h"
#include "hold.h"
#include "preload.h"
#include "real.h"

#include <errno.h>

/* Readers. */

static void remember_read(struct thread *thread, const void *lock, uint32_t group,
                          struct relock_tally *tally, struct timed timed) {
  tally->acquisitions++;
  section_begins(thread, timed);
  if (thread->read_count == HELD_MAX) {
    count_drop(&header->dropped_histograms);
    return;
  }
  thread->reads[thread->read_count++] =
      (struct read_hold){lock, tally, timed.start, group, timed.weight};
}

/* Takes the latest hold of the lock out of those of the thread. */
static bool forget_read(struct thread *thread, const void *lock, struct read_hold *hold) {
  if (UNLIKELY(lost_processor(thread)))
    section_resumed(thread);
  for (uint32_t i = thread->read_count; i-- > 0;) {
    if (thread->reads[i].lock != lock)
      continue;
    *hold = thread->reads[i];
    thread->read_count--;
    for (; i < thread->read_count; i++)
      thread->reads[i] = thread->reads[i + 1];
    return true;
  }
  return false;
}

static int wait_to_read(pthread_rwlock_t *lock, const struct patience *patience) {
  switch (patience->how) {
  case PLAIN:
    return real.rdlock(lock);
  case TIMED:
    return real.timedrdlock(lock, patience->until);
  default:
    return real.clockrdlock(lock, patience->clock, patience->until);
  }
}

static int read_contended(struct thread *thread, uint32_t group, struct relock_tally *tally,
                          pthread_rwlock_t *lock, const struct patience *patience) {
  const struct relock_object *object = primitive_find(RELOCK_RWLOCK, lock);
  uint32_t holder = object ? edge_holder(object) : 0;
  uint64_t before = relock_ticks(), after;
  int result;
  section_waits(thread, before);
  recording_leave(thread);
  result = wait_to_read(lock, patience);
  thread = recording_enter();
  if (!thread)
    return result;
  after = relock_ticks();
  if (result == 0) {
    tally->contended++;
    remember_read(thread, lock, group, tally, (struct timed){after, 1});
  } else if (result == ETIMEDOUT) {
    tally->timeouts++;
  }
  if (result == 0 || result == ETIMEDOUT) {
    measure_reader(thread, group, RELOCK_READ_WAIT, after - before, 1);
    edge_count(thread, group, holder, 0, after - before);
  }
  if (section_may_end(thread))
    section_ends(thread, after);
  recording_leave(thread);
  return result;
}

/* The tally of the calling thread for a lock; entered if it is not null. */
static struct relock_tally *enter_reader(const pthread_rwlock_t *lock, struct thread **thread,
                                         uint32_t *group) {
  struct relock_object *object;
  struct relock_tally *tally = NULL;
  *thread = recording_enter();
  if (!*thread)
    return NULL;
  object = primitive_object(RELOCK_RWLOCK, lock);
  if (object) {
    *group = object->group;
    tally = thread_tally(*thread, *group);
    if (!tally)
      count_drop(&header->dropped_objects);
  }
  if (!tally)
    recording_leave(*thread);
  return tally;
}

/* There is no holder to say of the lock that its holds are timed in any case: the first ones of
 * each thread and class are. */
static inline int attempt_read(struct thread *thread, uint32_t group, struct relock_tally *tally,
                               pthread_rwlock_t *lock) {
  const bool due = --thread->countdown == 0;
  struct timed timed = {0, 0};
  int result;
  if (UNLIKELY(due) || UNLIKELY(lost_processor(thread)) || tally->acquisitions < FIRST_TIMED) {
    struct special special;
    hold_prepare(thread, NULL, false, &special);
    timed.weight = tally->acquisitions < FIRST_TIMED ? 1 : special.weight;
    timed.start = timed.weight ? special.before + hold_bias : 0;
  }
  result = real.tryrdlock(lock);
  if (LIKELY(result == 0))
    remember_read(thread, lock, group, tally, timed);
  return result;
}

static int record_read(pthread_rwlock_t *lock, const struct patience *patience) {
  struct thread *thread;
  uint32_t group;
  struct relock_tally *tally;
  int result;
  tally = is_valid(patience) ? enter_reader(lock, &thread, &group) : NULL;
  if (UNLIKELY(!tally)) {
    real_resolve();
    return wait_to_read(lock, patience);
  }
  result = attempt_read(thread, group, tally, lock);
  if (UNLIKELY(result == EBUSY))
    return read_contended(thread, group, tally, lock, patience);
  recording_leave(thread);
  return result ? wait_to_read(lock, patience) : 0;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  return record_read(lock, &(struct patience){.how = PLAIN});
}

EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock,
                                      const struct timespec *restrict until) {
  return record_read(lock, &(struct patience){TIMED, CLOCK_REALTIME, until});
}

EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                      const struct timespec *restrict until) {
  return record_read(lock, &(struct patience){CLOCKED, clock, until});
}

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  struct thread *thread;
  uint32_t group;
  struct relock_tally *tally = enter_reader(lock, &thread, &group);
  int result;
  if (!tally)
    return real.tryrdlock(lock);
  result = attempt_read(thread, group, tally, lock);
  if (result == EBUSY)
    tally->try_failures++;
  recording_leave(thread);
  return result;
}

/* Writers. */

static int attempt_write(void *lock) { return real.trywrlock(lock); }
static int release_write(void *lock) { return real.rwlock_unlock(lock); }

static int wait_to_write(void *lock, const struct patience *patience) {
  switch (patience->how) {
  case PLAIN:
    return real.wrlock(lock);
  case TIMED:
    return real.timedwrlock(lock, patience->until);
  default:
    return real.clockwrlock(lock, patience->clock, patience->until);
  }
}

static const struct exclusive write = {RELOCK_RWLOCK, attempt_write, wait_to_write, release_write};

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  return exclusive_lock(&write, lock, &(struct patience){.how = PLAIN});
}

EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock,
                                      const struct timespec *restrict until) {
  return exclusive_lock(&write, lock, &(struct patience){TIMED, CLOCK_REALTIME, until});
}

EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                      const struct timespec *restrict until) {
  return exclusive_lock(&write, lock, &(struct patience){CLOCKED, clock, until});
}

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
  return exclusive_trylock(&write, lock);
}

/* Both. */

static int release_read(struct thread *thread, const struct read_hold *hold,
                        pthread_rwlock_t *lock) {
  uint64_t now = hold->since || section_may_end(thread) ? relock_ticks() : 0;
  int result;
  hold->tally->holds++;
  if (section_may_end(thread))
    section_ends(thread, now);
  result = real.rwlock_unlock(lock);
  if (hold->since)
    measure_reader(thread, hold->group, RELOCK_READ_HOLD, hold_length(hold->since, now),
                   hold->weight);
  return result;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  struct thread *thread = recording_enter();
  struct relock_object *object = thread ? hold_find(thread, RELOCK_RWLOCK, lock) : NULL;
  struct read_hold hold;
  int result;
  if (object && is_held(object))
    result = exclusive_unlock(&write, thread, object, lock);
  else if (object && forget_read(thread, lock, &hold))
    result = release_read(thread, &hold, lock);
  else
    result = real.rwlock_unlock(lock);
  if (thread)
    recording_leave(thread);
  return result;
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *restrict lock,
                               const pthread_rwlockattr_t *restrict attributes) {
  int result;
  real_resolve();
  result = real.rwlock_init(lock, attributes);
  if (result == 0)
    primitive_initialised(RELOCK_RWLOCK, lock);
  return result;
}

EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
  int result;
  real_resolve();
  result = real.rwlock_destroy(lock);
  if (result == 0)
    primitive_destroyed(RELOCK_RWLOCK, lock);
  return result;
}
