/* SPDX-License-Identifier: MIT
 *
 * C11's threads, mutexes and conditions. In glibc these are the pthread ones under another name,
 * and it calls them by names of its own, so they pass through here.
 */
#include "objects.h"
#include "preload.h"
#include "real.h"
#include "store.h"
#include "threads.h"

#include <errno.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a cnd_t is a pthread_cond_t");

static pthread_mutex_t *mutex_of(mtx_t *mutex) { return (pthread_mutex_t *)mutex; }
static pthread_cond_t *condition_of(cnd_t *condition) { return (pthread_cond_t *)condition; }

static int status_of(int error) {
  switch (error) {
  case 0:
    return thrd_success;
  case ENOMEM:
    return thrd_nomem;
  case ETIMEDOUT:
    return thrd_timedout;
  case EBUSY:
    return thrd_busy;
  default:
    return thrd_error;
  }
}

EXPORT int mtx_init(mtx_t *mutex, int type) {
  struct thread *thread = recording_enter();
  int result = real.mtx_init(mutex, type);
  if (thread) {
    if (result == thrd_success && !object_create(mutex_of(mutex), true))
      count_drop(&header->dropped_objects);
    recording_leave(thread);
  }
  return result;
}

EXPORT void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex_of(mutex)); }
EXPORT int mtx_lock(mtx_t *mutex) { return status_of(pthread_mutex_lock(mutex_of(mutex))); }
EXPORT int mtx_trylock(mtx_t *mutex) { return status_of(pthread_mutex_trylock(mutex_of(mutex))); }
EXPORT int mtx_unlock(mtx_t *mutex) { return status_of(pthread_mutex_unlock(mutex_of(mutex))); }
EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until) {
  return status_of(pthread_mutex_timedlock(mutex_of(mutex), until));
}

EXPORT int cnd_init(cnd_t *condition) {
  int result;
  real_resolve();
  result = real.cnd_init(condition);
  if (result == thrd_success)
    primitive_initialised(RELOCK_CONDITION, condition);
  return result;
}

EXPORT void cnd_destroy(cnd_t *condition) { pthread_cond_destroy(condition_of(condition)); }
EXPORT int cnd_signal(cnd_t *condition) {
  return status_of(pthread_cond_signal(condition_of(condition)));
}
EXPORT int cnd_broadcast(cnd_t *condition) {
  return status_of(pthread_cond_broadcast(condition_of(condition)));
}
EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return status_of(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}
EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                         const struct timespec *restrict until) {
  return status_of(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), until));
}

static int run_thread(void *argument) {
  struct thread *thread = argument;
  thrd_start_t start = (thrd_start_t)(void (*)(void))thread->start;
  recording_attach(thread);
  return start(thread->argument);
}

EXPORT int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
  struct thread *creator = recording_enter();
  struct thread *thread = creator ? thread_take() : NULL;
  int result;
  if (creator)
    recording_leave(creator);
  if (!thread)
    return real.thrd_create(id, start, argument);
  thread->start = (void *(*)(void *))(void (*)(void))start;
  thread->argument = argument;
  result = real.thrd_create(id, run_thread, thread);
  if (result != thrd_success)
    thread_give_back(thread);
  return result;
}
