/* SPDX-License-Identifier: MIT
 *
 * The functions that the profiler stands in front of.
 */
#ifndef RELOCK_PROFILER_REAL_H
#define RELOCK_PROFILER_REAL_H

#include <pthread.h>
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
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int (*setname)(pthread_t, const char *);
  void (*exit_now)(int);
  void (*exit_quickly)(int);
};

extern struct real real;

/* Finds them all; cheap once that is done. Needs no allocation and takes no mutex. */
void real_resolve(void);

#endif
