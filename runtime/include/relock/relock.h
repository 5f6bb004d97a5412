/* SPDX-License-Identifier: MIT
 *
 * Relock runtime: one mutex object that every lock algorithm can serve, either to a holder
 * (lock, work, unlock) or by running a section on the caller's behalf (execute).
 */
#ifndef RELOCK_RELOCK_H
#define RELOCK_RELOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct relock_algorithm;

/* A lock class: all mutexes that come from one declaration. Defined by RELOCK_LOCK_CLASS. */
typedef struct relock_class {
  const char *name;      /* what RELOCK_LOCKS and the statistics call it */
  const char *algorithm; /* one of the names that RELOCK_LOCKS accepts; null: the default */
  const struct relock_algorithm *relock_ops; /* the rest belongs to the runtime */
  struct relock_class *relock_next;
  void *relock_private[6];
} relock_class_t;

/* Same size, alignment and zero value as pthread_mutex_t, so that it can take its place in a
 * struct. Zero-filled, it is a normal mutex of the default class. */
typedef union relock_mutex {
  struct {
    relock_class_t *lock_class; /* null: the default class */
    uintptr_t word[3];          /* the algorithm's */
    uint32_t type;
    uint32_t recursion;
  } relock_private;
  char relock_size[sizeof(pthread_mutex_t)];
  long relock_align;
} relock_mutex_t;

typedef union relock_cond {
  struct {
    uintptr_t word[4];
    uint32_t clock;
  } relock_private;
  char relock_size[sizeof(pthread_cond_t)];
  long long relock_align;
} relock_cond_t;

/* A critical section as a function. Returns which of its exits it took (0: the end). */
typedef int (*relock_section_t)(void *context);

int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context);
int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context);

int relock_mutex_init(relock_mutex_t *mutex, const pthread_mutexattr_t *attributes,
                      relock_class_t *lock_class);
int relock_mutex_destroy(relock_mutex_t *mutex);
int relock_mutex_lock(relock_mutex_t *mutex);
int relock_mutex_trylock(relock_mutex_t *mutex);
int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline);
int relock_mutex_clocklock(relock_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline);
int relock_mutex_unlock(relock_mutex_t *mutex);

int relock_cond_init(relock_cond_t *cond, const pthread_condattr_t *attributes);
int relock_cond_destroy(relock_cond_t *cond);
int relock_cond_wait(relock_cond_t *cond, relock_mutex_t *mutex);
int relock_cond_timedwait(relock_cond_t *cond, relock_mutex_t *mutex,
                          const struct timespec *deadline);
int relock_cond_clockwait(relock_cond_t *cond, relock_mutex_t *mutex, clockid_t clock,
                          const struct timespec *deadline);
int relock_cond_signal(relock_cond_t *cond);
int relock_cond_broadcast(relock_cond_t *cond);

void relock_class_register(relock_class_t *lock_class);
void relock_check_options(void);

/* Names a lock class, with its algorithm. Stands in the generated relock_locks.h; weak, so that
 * every translation unit may include it and all share one object. */
#define RELOCK_LOCK_CLASS(id, class_name, algorithm_name)                                          \
  __attribute__((weak)) relock_class_t relock_class_##id = {class_name, algorithm_name, 0, 0, {0}}; \
  __attribute__((constructor(101))) static void relock_register_##id(void) {                       \
    relock_class_register(&relock_class_##id);                                                     \
  }                                                                                                \
  struct relock_class

#define RELOCK_CLASS(id) (&relock_class_##id)
#define RELOCK_MUTEX_INITIALIZER(id) {{&relock_class_##id, {0, 0, 0}, PTHREAD_MUTEX_NORMAL, 0}}
#define RELOCK_RECURSIVE_MUTEX_INITIALIZER(id)                                                     \
  {{&relock_class_##id, {0, 0, 0}, PTHREAD_MUTEX_RECURSIVE, 0}}
#define RELOCK_ERRORCHECK_MUTEX_INITIALIZER(id)                                                    \
  {{&relock_class_##id, {0, 0, 0}, PTHREAD_MUTEX_ERRORCHECK, 0}}
#define RELOCK_COND_INITIALIZER {{{0, 0, 0, 0}, 0}}

#ifdef __cplusplus
}
#endif
#endif
