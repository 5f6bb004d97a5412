// SPDX-License-Identifier: MIT
// A thread that is cancelled while it waits for a condition holds the mutex in its clean-up
// handler; the profiler is in nobody's way.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["acquisitions"] == 3 and lock("mutex")["held_at_end"] == 0' \
// RUN:   'profile["threads"] == 2'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting;

static void release(void *argument) { pthread_mutex_unlock(argument); }

static void *wait_for_ever(void *argument) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(release, &mutex);
  waiting = 1;
  pthread_cond_signal(&condition);
  for (;;)
    pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  while (!waiting)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
