// SPDX-License-Identifier: MIT
// A recursive mutex is held from its first acquisition to its last release, whatever lies between,
// a wait for a condition included; an error-checking one that refuses its owner is not acquired.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("recursive")["acquisitions"] == 21 and lock("recursive")["reentries"] == 14' \
// RUN:   'lock("recursive")["hold"]["count"] == 7 and lock("recursive")["contended"] == 0' \
// RUN:   'lock("recursive")["held_at_end"] == 0' \
// RUN:   'lock("waiting")["acquisitions"] == 2 and lock("waiting")["reentries"] == 1' \
// RUN:   'lock("waiting")["condition_waits"] == 1 and lock("waiting")["held_at_end"] == 0' \
// RUN:   'lock("waiting")["hold"]["count"] == 2' \
// RUN:   'lock("waiting")["hold"]["max_ns"] >= 20 * MS' \
// RUN:   'lock("checking")["acquisitions"] == 1 and lock("checking")["contended"] == 0' \
// RUN:   'lock("checking")["hold"]["count"] == 1 and profile["foreign_releases"] == 0'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t waiting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *release_others(void *argument) {
  return pthread_mutex_unlock(&checking) == EPERM ? argument : NULL;
}

// The wait gives up one of two acquisitions, so the mutex stays locked; it is in use again, and held
// until the second release, when the time is up.
static void wait_inside(void) {
  struct timespec now = {0, 0};
  pthread_mutex_lock(&waiting);
  pthread_mutex_lock(&waiting);
  pthread_cond_timedwait(&condition, &waiting, &now);
  pthread_mutex_unlock(&waiting);
  usleep(20 * 1000);
  pthread_mutex_unlock(&waiting);
}

int main(void) {
  pthread_t thread;
  void *refused;
  for (int i = 0; i < 7; i++) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_trylock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
  }
  wait_inside();
  pthread_mutex_lock(&checking);
  if (pthread_mutex_lock(&checking) != EDEADLK)
    return 1;
  pthread_create(&thread, NULL, release_others, &thread);
  pthread_join(thread, &refused);
  if (!refused || pthread_mutex_unlock(&checking) || pthread_mutex_unlock(&checking) != EPERM)
    return 2;
  return 0;
}
