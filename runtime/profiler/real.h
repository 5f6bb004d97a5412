/* SPDX-License-Identifier: MIT
 *
 * The functions that the profiler stands in front of.
 */
#ifndef RELOCK_PROFILER_REAL_H
#define RELOCK_PROFILER_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

struct real {
  int (*lock)(pthread_mutex_t *);
  int (*trylock)(pthread_mutex_t *);
  int (*timedlock)(pthread_mutex_t *, const struct timespec *);
  int (*clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
  int (*unlock)(pthread_mutex_t *);
  int (*init)(pthread_mutex_t *, const pthread_mutexattr_t *);
  int (*destroy)(pthread_mutex_t *);
  int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
  int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
  int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
  int (*cond_destroy)(pthread_cond_t *);
  int (*cond_signal)(pthread_cond_t *);
  int (*cond_broadcast)(pthread_cond_t *);
  int (*rwlock_init)(pthread_rwlock_t *, const pthread_rwlockattr_t *);
  int (*rwlock_destroy)(pthread_rwlock_t *);
  int (*rdlock)(pthread_rwlock_t *);
  int (*tryrdlock)(pthread_rwlock_t *);
  int (*timedrdlock)(pthread_rwlock_t *, const struct timespec *);
  int (*clockrdlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
  int (*wrlock)(pthread_rwlock_t *);
  int (*trywrlock)(pthread_rwlock_t *);
  int (*timedwrlock)(pthread_rwlock_t *, const struct timespec *);
  int (*clockwrlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
  int (*rwlock_unlock)(pthread_rwlock_t *);
  int (*spin_init)(pthread_spinlock_t *, int);
  int (*spin_destroy)(pthread_spinlock_t *);
  int (*spin_lock)(pthread_spinlock_t *);
  int (*spin_trylock)(pthread_spinlock_t *);
  int (*spin_unlock)(pthread_spinlock_t *);
  int (*sem_init)(sem_t *, int, unsigned);
  sem_t *(*sem_open)(const char *, int, ...);
  int (*sem_destroy)(sem_t *);
  int (*sem_wait)(sem_t *);
  int (*sem_trywait)(sem_t *);
  int (*sem_timedwait)(sem_t *, const struct timespec *);
  int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
  int (*sem_post)(sem_t *);
  int (*barrier_init)(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
  int (*barrier_destroy)(pthread_barrier_t *);
  int (*barrier_wait)(pthread_barrier_t *);
  int (*mtx_init)(mtx_t *, int);
  int (*cnd_init)(cnd_t *);
  int (*thrd_create)(thrd_t *, thrd_start_t, void *);
  long (*syscall)(long, ...);
  int (*prctl)(int, ...);
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int (*setname)(pthread_t, const char *);
  void (*exit_now)(int);
  void (*exit_quickly)(int);
};

extern struct real real;

/* Finds them all; cheap once that is done. Needs no allocation and takes no mutex. */
void real_resolve(void);

#endif
