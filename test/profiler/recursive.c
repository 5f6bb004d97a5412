// SPDX-License-Identifier: MIT
// A recursive mutex is held from its first acquisition to its last release; an error-checking one
// that refuses its owner is not acquired.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("recursive")["acquisitions"] == 21 and lock("recursive")["reentries"] == 14' \
// RUN:   'lock("recursive")["hold"]["count"] == 7 and lock("recursive")["contended"] == 0' \
// RUN:   'lock("recursive")["held_at_end"] == 0' \
// RUN:   'lock("checking")["acquisitions"] == 1 and lock("checking")["contended"] == 0' \
// RUN:   'lock("checking")["hold"]["count"] == 1 and profile["foreign_releases"] == 0'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *release_others(void *argument) {
  return pthread_mutex_unlock(&checking) == EPERM ? argument : NULL;
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
  pthread_mutex_lock(&checking);
  if (pthread_mutex_lock(&checking) != EDEADLK)
    return 1;
  pthread_create(&thread, NULL, release_others, &thread);
  pthread_join(thread, &refused);
  if (!refused || pthread_mutex_unlock(&checking) || pthread_mutex_unlock(&checking) != EPERM)
    return 2;
  return 0;
}
