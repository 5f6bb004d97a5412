/* SPDX-License-Identifier: MIT
 *
 * What threads wait for other than locks: conditions, semaphores, barriers, and futexes that the
 * program waits for by itself. None of it is section time.
 */
#define _GNU_SOURCE
#include "histograms.h"
#include "hold.h"
#include "objects.h"
#include "preload.h"
#include "preload_seccomp.h"
#include "real.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* The calling thread's tally of what lies at an address. Enters, and leaves if there is none. */
static struct relock_tally *enter_tally(enum relock_primitive primitive, const void *address,
                                        struct thread **thread, uint32_t *group) {
  struct relock_object *object;
  struct relock_tally *tally = NULL;
  *thread = recording_enter();
  if (!*thread)
    return NULL;
  object = primitive_object(primitive, address);
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

/* The thread's record tells the reader of a wait that has not ended. */
static void note_wait(struct thread *thread, uint32_t group, uint64_t since) {
  thread->record->wait_group = group;
  thread->record->wait_start = since;
  if (since && in_section(thread))
    section_waits(thread, since);
}

/* Counted when it begins: threads that wait until the program ends, or are cancelled, have
 * waited too. */
static struct waiting wait_begins(enum relock_primitive primitive, const void *address) {
  struct thread *thread;
  struct waiting waiting = {.tally = NULL};
  waiting.tally = enter_tally(primitive, address, &thread, &waiting.group);
  if (waiting.tally) {
    waiting.tally->acquisitions++;
    waiting.sample = sample_other_wait(thread, waiting.group);
    waiting.since = relock_ticks();
    note_wait(thread, waiting.group, waiting.since);
    recording_leave(thread);
  }
  return waiting;
}

/* `error`: 0 or what the real function failed with. */
static void wait_ends(const struct waiting *waiting, int error) {
  uint64_t now = waiting->tally ? relock_ticks() : 0;
  struct thread *thread = waiting->tally ? recording_enter() : NULL;
  if (!thread)
    return;
  note_wait(thread, 0, 0);
  if (error && error != ETIMEDOUT) {
    waiting->tally->acquisitions--; /* refused */
  } else {
    waiting->tally->timeouts += error == ETIMEDOUT;
    measure(thread, waiting->group, RELOCK_WAIT, now - waiting->since, 1);
    sample_waited(&waiting->sample, now - waiting->since);
  }
  recording_leave(thread);
}

/* Conditions. */

struct waiting condition_wait_begins(const pthread_cond_t *condition) {
  return wait_begins(RELOCK_CONDITION, condition);
}

void condition_wait_ends(const struct waiting *waiting, int result) {
  wait_ends(waiting, result == EOWNERDEAD ? 0 : result);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition) {
  struct thread *thread;
  uint32_t group;
  struct relock_tally *tally = enter_tally(RELOCK_CONDITION, condition, &thread, &group);
  if (tally) {
    tally->signals++;
    recording_leave(thread);
  }
  return real.cond_signal(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition) {
  struct thread *thread;
  uint32_t group;
  struct relock_tally *tally = enter_tally(RELOCK_CONDITION, condition, &thread, &group);
  if (tally) {
    tally->broadcasts++;
    recording_leave(thread);
  }
  return real.cond_broadcast(condition);
}

EXPORT int pthread_cond_init(pthread_cond_t *restrict condition,
                             const pthread_condattr_t *restrict attributes) {
  int result;
  real_resolve();
  result = real.cond_init(condition, attributes);
  if (result == 0)
    primitive_initialised(RELOCK_CONDITION, condition);
  return result;
}

EXPORT int pthread_cond_destroy(pthread_cond_t *condition) {
  int result;
  real_resolve();
  result = real.cond_destroy(condition);
  if (result == 0)
    primitive_destroyed(RELOCK_CONDITION, condition);
  return result;
}

/* Semaphores. */

static int wait_for_post(sem_t *semaphore, const struct patience *patience) {
  switch (patience->how) {
  case PLAIN:
    return real.sem_wait(semaphore);
  case TIMED:
    return real.sem_timedwait(semaphore, patience->until);
  default:
    return real.sem_clockwait(semaphore, patience->clock, patience->until);
  }
}

static int wait_semaphore(const struct waiting *waiting, sem_t *semaphore,
                          const struct patience *patience) {
  int result = wait_for_post(semaphore, patience);
  int error = errno;
  uint64_t after = relock_ticks();
  struct thread *thread = recording_enter();
  if (thread) {
    note_wait(thread, 0, 0);
    waiting->tally->acquisitions += result == 0;
    waiting->tally->contended += result == 0;
    waiting->tally->timeouts += result && error == ETIMEDOUT;
    measure(thread, waiting->group, RELOCK_WAIT, after - waiting->since, 1);
    sample_waited(&waiting->sample, after - waiting->since);
    recording_leave(thread);
  }
  errno = error;
  return result;
}

static int record_semaphore(sem_t *semaphore, const struct patience *patience) {
  int before_errno = errno, error = 0;
  struct waiting waiting = {.tally = NULL};
  struct thread *thread;
  real_resolve();
  if (!is_valid(patience))
    return wait_for_post(semaphore, patience);
  pthread_testcancel(); /* as the real one does, even where it need not wait */
  waiting.tally = enter_tally(RELOCK_SEMAPHORE, semaphore, &thread, &waiting.group);
  if (!waiting.tally)
    return wait_for_post(semaphore, patience);
  if (real.sem_trywait(semaphore) == 0)
    waiting.tally->acquisitions++;
  else
    error = errno;
  if (error == EAGAIN) {
    waiting.since = relock_ticks();
    waiting.sample = sample_other_wait(thread, waiting.group);
    note_wait(thread, waiting.group, waiting.since);
  }
  recording_leave(thread);
  errno = before_errno;
  if (error == EAGAIN)
    return wait_semaphore(&waiting, semaphore, patience);
  return error ? wait_for_post(semaphore, patience) : 0;
}

EXPORT int sem_wait(sem_t *semaphore) {
  return record_semaphore(semaphore, &(struct patience){.how = PLAIN});
}

EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  return record_semaphore(semaphore, &(struct patience){TIMED, CLOCK_REALTIME, until});
}

EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                         const struct timespec *restrict until) {
  return record_semaphore(semaphore, &(struct patience){CLOCKED, clock, until});
}

EXPORT int sem_trywait(sem_t *semaphore) {
  struct thread *thread;
  uint32_t group;
  struct relock_tally *tally = enter_tally(RELOCK_SEMAPHORE, semaphore, &thread, &group);
  int result = real.sem_trywait(semaphore);
  if (tally) {
    tally->acquisitions += result == 0;
    tally->try_failures += result != 0;
    recording_leave(thread);
  }
  return result;
}

/* Signal handlers may post: nothing is looked up in the loader's lists here. */
EXPORT int sem_post(sem_t *semaphore) {
  struct thread *thread = recording_enter();
  struct relock_object *object = thread ? primitive_find(RELOCK_SEMAPHORE, semaphore) : NULL;
  struct relock_tally *tally = object ? thread_tally(thread, object->group) : NULL;
  int result = real.sem_post(semaphore);
  if (tally)
    tally->signals += result == 0;
  if (thread)
    recording_leave(thread);
  return result;
}

EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value) {
  int result;
  real_resolve();
  result = real.sem_init(semaphore, shared, value);
  if (result == 0)
    primitive_initialised(RELOCK_SEMAPHORE, semaphore);
  return result;
}

EXPORT sem_t *sem_open(const char *name, int flags, ...) {
  sem_t *semaphore;
  mode_t mode = 0;
  unsigned value = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    value = va_arg(arguments, unsigned);
    va_end(arguments);
  }
  real_resolve();
  semaphore = real.sem_open(name, flags, mode, value);
  if (semaphore != SEM_FAILED)
    primitive_initialised(RELOCK_SEMAPHORE, semaphore);
  return semaphore;
}

EXPORT int sem_destroy(sem_t *semaphore) {
  int result;
  real_resolve();
  result = real.sem_destroy(semaphore);
  if (result == 0)
    primitive_destroyed(RELOCK_SEMAPHORE, semaphore);
  return result;
}

/* Barriers. */

struct waiting barrier_wait_begins(const void *barrier) {
  return wait_begins(RELOCK_BARRIER, barrier);
}

void barrier_wait_ends(const struct waiting *waiting) { wait_ends(waiting, 0); }

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
  struct waiting waiting = barrier_wait_begins(barrier);
  int result = real.barrier_wait(barrier);
  barrier_wait_ends(&waiting);
  return result;
}

EXPORT int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                                const pthread_barrierattr_t *restrict attributes, unsigned count) {
  int result;
  real_resolve();
  result = real.barrier_init(barrier, attributes, count);
  if (result == 0)
    primitive_initialised(RELOCK_BARRIER, barrier);
  return result;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier) {
  int result;
  real_resolve();
  result = real.barrier_destroy(barrier);
  if (result == 0)
    primitive_destroyed(RELOCK_BARRIER, barrier);
  return result;
}

/* Futexes. */

static char futexes; /* stands for all of them */

static bool waits_for_futex(long number, long operation) {
  if (number != SYS_futex)
    return false;
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
  case FUTEX_WAIT_REQUEUE_PI:
  case FUTEX_LOCK_PI:
  case FUTEX_LOCK_PI2:
    return true;
  default:
    return false;
  }
}

/* Allocators call this while the functions are still being found. */
EXPORT long syscall(long number, ...) {
  struct waiting waiting = {.tally = NULL};
  long arguments[6], result;
  bool sealed = false;
  int error;
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++)
    arguments[i] = va_arg(list, long);
  va_end(list);
  if (!real.syscall)
    real_resolve();
  if (waits_for_futex(number, arguments[1]))
    waiting = wait_begins(RELOCK_FUTEX, &futexes);
  else if (number == SYS_seccomp)
    sealed = seccomp_begins(arguments[0], (const void *)arguments[2]);
  else if (number == SYS_prctl && arguments[0] == PR_SET_SECCOMP)
    sealed = seccomp_begins_by_mode((unsigned long)arguments[1], (const void *)arguments[2]);
  result = real.syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
  error = errno;
  if (waiting.tally)
    wait_ends(&waiting, result >= 0 || error == EINTR ? 0 : error);
  if (sealed)
    seccomp_ends(result == 0);
  errno = error;
  return result;
}
