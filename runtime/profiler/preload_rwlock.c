/* SPDX-License-Identifier: MIT
 *
 * rwlocks. Writers are recorded as holders of a mutex are; readers hold at the same time, so
 * theirs go to a tally and to histograms of their thread.
 */
#define _GNU_SOURCE
#include "contended.h"
#include "events.h"
#include "histograms.h"
#include "hold.h"
#include "preload.h"
#include "real.h"
#include "store.h"

#include <errno.h>

/* Readers. */

/* A thread that reads, or is about to, and its tally. */
struct reader {
  struct thread *thread;
  struct relock_object *object;
  struct relock_tally *tally;
};

static void remember_read(const struct reader *reader, const void *lock, struct timed timed) {
  struct thread *thread = reader->thread;
  if (thread->read_count == HELD_MAX) {
    count_drop(&header->dropped_histograms);
    return;
  }
  thread->reads[thread->read_count++] =
      (struct read_hold){lock, reader->tally, timed.start, reader->object->group, timed.weight};
}

/* `tried`: by a trylock. */
static void read_begins(const struct reader *reader, const void *lock, struct timed timed,
                        bool tried) {
  struct thread *thread = reader->thread;
  reader->tally->acquisitions++;
  section_begins(thread, timed);
  if (UNLIKELY(in_section(thread)))
    nesting_count(thread, reader->object, true, tried);
  remember_read(reader, lock, timed);
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

static int read_contended(struct reader *reader, pthread_rwlock_t *lock, struct sample *sample,
                          const struct patience *patience) {
  struct contended wait = contended_begins(reader->thread, reader->object, sample);
  uint64_t after;
  int result;
  recording_leave(reader->thread);
  result = wait_to_read(lock, patience);
  reader->thread = recording_enter();
  after = contended_ends(&wait);
  if (!reader->thread)
    return result;
  if (result == 0) {
    reader->tally->contended++;
    read_begins(reader, lock, (struct timed){after, 1}, false);
  } else if (result == ETIMEDOUT) {
    reader->tally->timeouts++;
  }
  if (result == 0 || result == ETIMEDOUT)
    contended_measure(&wait, reader->thread, sample, 0, result ? 0 : after, after);
  if (section_may_end(reader->thread))
    section_ends(reader->thread, after);
  recording_leave(reader->thread);
  return result;
}

/* Enters if there is a tally of the calling thread for the lock. */
static bool enter_reader(const pthread_rwlock_t *lock, struct reader *reader) {
  reader->thread = recording_enter();
  if (!reader->thread)
    return false;
  reader->object = primitive_object(RELOCK_RWLOCK, lock);
  reader->tally = reader->object ? thread_tally(reader->thread, reader->object->group) : NULL;
  if (LIKELY(reader->tally))
    return true;
  if (reader->object)
    count_drop(&header->dropped_objects);
  recording_leave(reader->thread);
  return false;
}

/* There is no holder to say of the lock that its holds are timed in any case: the first ones of
 * each thread and class are. */
static inline bool is_sure(const struct reader *reader) {
  return reader->tally->acquisitions < RELOCK_FIRST_TIMED;
}

static inline bool read_is_special(const struct reader *reader) {
  return thread_is_due(reader->thread) || UNLIKELY(is_sure(reader));
}

static inline int attempt_read(const struct reader *reader, pthread_rwlock_t *lock, bool tried) {
  int result = real.tryrdlock(lock);
  if (LIKELY(result == 0))
    read_begins(reader, lock, (struct timed){0, 0}, tried);
  return result;
}

static NOINLINE int attempt_read_special(const struct reader *reader, pthread_rwlock_t *lock,
                                         struct special *special, bool tried) {
  struct timed timed;
  int result;
  hold_prepare(reader->thread, reader->object, true, special);
  result = real.tryrdlock(lock);
  if (result == 0) {
    timed = special_timed(special, is_sure(reader));
    read_begins(reader, lock, timed, tried);
    sample_acquired(reader->thread, reader->object, &special->sample, timed.start, 0);
  }
  return result;
}

/* The attempt to read gave that result; leaves. */
static NOINLINE int read_attempted(struct reader *reader, pthread_rwlock_t *lock,
                                   struct sample *sample, int result,
                                   const struct patience *patience) {
  if (result == EBUSY)
    return read_contended(reader, lock, sample, patience);
  recording_leave(reader->thread);
  return result ? wait_to_read(lock, patience) : 0;
}

static NOINLINE int read_special(struct reader *reader, pthread_rwlock_t *lock,
                                 const struct patience *patience) {
  struct special special;
  int result = attempt_read_special(reader, lock, &special, false);
  return read_attempted(reader, lock, &special.sample, result, patience);
}

static NOINLINE int read_refused(struct reader *reader, pthread_rwlock_t *lock, int result,
                                 const struct patience *patience) {
  struct sample none = {.reading = true};
  return read_attempted(reader, lock, &none, result, patience);
}

static int record_read(pthread_rwlock_t *lock, const struct patience *patience) {
  struct reader reader;
  int result;
  if (UNLIKELY(!is_valid(patience) || !enter_reader(lock, &reader))) {
    real_resolve();
    return wait_to_read(lock, patience);
  }
  if (read_is_special(&reader))
    return read_special(&reader, lock, patience);
  result = attempt_read(&reader, lock, false);
  if (UNLIKELY(result))
    return read_refused(&reader, lock, result, patience);
  recording_leave(reader.thread);
  return 0;
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
  struct special special;
  struct reader reader;
  int result;
  if (!enter_reader(lock, &reader))
    return real.tryrdlock(lock);
  if (read_is_special(&reader))
    result = attempt_read_special(&reader, lock, &special, true);
  else
    result = attempt_read(&reader, lock, true);
  if (result == EBUSY)
    reader.tally->try_failures++;
  recording_leave(reader.thread);
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

static int release_read(struct thread *thread, const struct relock_object *object,
                        const struct read_hold *hold, pthread_rwlock_t *lock) {
  uint64_t own = event_section_ends(thread, object, hold->since);
  uint64_t now = hold->since || section_may_end(thread) ? relock_ticks() : 0;
  uint64_t ticks = hold_length(hold->since + own, now);
  int result;
  if (now)
    clock_was_read(thread, now);
  hold->tally->holds++;
  if (UNLIKELY(thread->pending_count) && hold->since)
    sample_released(thread, object, hold->since, ticks);
  if (section_may_end(thread))
    section_ends(thread, now);
  result = real.rwlock_unlock(lock);
  if (UNLIKELY(hold->weight))
    measure_read_hold(thread, hold->group, ticks, hold->weight);
  return result;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  struct thread *thread = recording_enter();
  struct relock_object *object = thread ? hold_find(thread, RELOCK_RWLOCK, lock) : NULL;
  struct read_hold hold;
  int result;
  if (object && is_held(object))
    result = exclusive_unlock(&write, thread, object, lock);
  else if (object && read_forget(thread, lock, &hold))
    result = release_read(thread, object, &hold, lock);
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
