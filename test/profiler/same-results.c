// SPDX-License-Identifier: MIT
// Calls that are wrong, or that fail, have the results and error numbers that they have without
// the profiler, and the locks are in the same state after them.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %t > %t.plain
// RUN: %relock profile -o %t.profile -- %t > %t.recorded
// RUN: diff %t.plain %t.recorded
// RUN: grep -q 'sem_timedwait.* -1 22' %t.plain
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#define SHOW(call)                                                                                 \
  (errno = 0, result = (call), printf("%s %s %d %d\n", #call, which, result, errno))

static const struct timespec past = {1, 0}, negative = {1, -1}, large = {1, 1000000000};

static void try_mutex(const char *which, int type, const struct timespec *until) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  int result;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutex_init(&mutex, &attributes);
  SHOW(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, until));
  SHOW(pthread_mutex_timedlock(&mutex, until));
  SHOW(pthread_mutex_trylock(&mutex));
  SHOW(pthread_mutex_timedlock(&mutex, until));
  SHOW(pthread_mutex_destroy(&mutex));
  SHOW(pthread_mutex_unlock(&mutex));
}

static void try_rwlock(const char *which, const struct timespec *until) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  int result;
  SHOW(pthread_rwlock_timedrdlock(&lock, until));
  SHOW(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, until));
  SHOW(pthread_rwlock_trywrlock(&lock));
  SHOW(pthread_rwlock_timedwrlock(&lock, until));
  SHOW(pthread_rwlock_unlock(&lock));
  SHOW(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, until));
  SHOW(pthread_rwlock_wrlock(&lock));
  SHOW(pthread_rwlock_rdlock(&lock));
  SHOW(pthread_rwlock_timedwrlock(&lock, until));
  SHOW(pthread_rwlock_unlock(&lock));
  SHOW(pthread_rwlock_tryrdlock(&lock));
}

static void try_semaphore(const char *which, const struct timespec *until) {
  sem_t semaphore;
  int result;
  SHOW(sem_init(&semaphore, 0, 0xffffffff));
  SHOW(sem_init(&semaphore, 0, 1));
  SHOW(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, until));
  SHOW(sem_timedwait(&semaphore, until));
  SHOW(sem_timedwait(&semaphore, until));
  SHOW(sem_trywait(&semaphore));
  SHOW(sem_init(&semaphore, 0, 0x7fffffff));
  SHOW(sem_post(&semaphore));
}

static void try_others(const char *which, const struct timespec *until) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  mtx_t c11;
  int result;
  pthread_mutex_lock(&mutex);
  SHOW(pthread_cond_timedwait(&condition, &mutex, until));
  SHOW(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, until));
  SHOW(pthread_barrier_init(&barrier, NULL, 0));
  SHOW(pthread_barrier_init(&barrier, NULL, 1));
  SHOW(pthread_barrier_wait(&barrier));
  pthread_spin_init(&spin, 0);
  SHOW(pthread_spin_trylock(&spin));
  SHOW(pthread_spin_trylock(&spin));
  SHOW(pthread_spin_unlock(&spin));
  SHOW(mtx_init(&c11, 77));
  SHOW(mtx_init(&c11, mtx_timed));
  SHOW(mtx_trylock(&c11));
  SHOW(mtx_trylock(&c11));
  SHOW(mtx_timedlock(&c11, until));
}

static void try_all(const char *which, const struct timespec *until) {
  try_mutex(which, PTHREAD_MUTEX_ERRORCHECK, until);
  try_mutex(which, PTHREAD_MUTEX_RECURSIVE, until);
  try_mutex(which, PTHREAD_MUTEX_NORMAL, until);
  try_rwlock(which, until);
  try_semaphore(which, until);
  try_others(which, until);
}

int main(void) {
  try_all("past", &past);
  try_all("negative", &negative);
  try_all("large", &large);
  return 0;
}
