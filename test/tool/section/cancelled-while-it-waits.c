// SPDX-License-Identifier: MIT
// A thread that is cancelled in the wait of its section holds the lock in its cleanup handler, as before.
// The section has no other cancellation point, so that it is delegated although the program cancels.
// RUN: %check_rewrite %s --algorithms=posix,ccsynch,rcl
// RUN: %rewritten %s | FileCheck %s
// CHECK:      RELOCK_COND_WAIT(resume, &changed, 1);
// CHECK:      relock_execute_resumable_any_thread(&lock, wait_section, &resume, &resume);
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned;

static void clean(void *unused) {
  (void)unused;
  cleaned++;
  pthread_mutex_unlock(&lock);
}

static void wait(void) {
  pthread_mutex_lock(&lock);
  waiting = 1;
  while (waiting)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void *sleeper(void *unused) {
  pthread_cleanup_push(clean, NULL);
  wait();
  pthread_cleanup_pop(0);
  return unused;
}

static int is_waiting(void) {
  int result;
  pthread_mutex_lock(&lock);
  result = waiting;
  pthread_mutex_unlock(&lock);
  return result;
}

int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, sleeper, NULL);
  while (!is_waiting())
    ;
  pthread_cancel(thread);
  pthread_join(thread, &result);
  pthread_mutex_lock(&lock);
  printf("%d %d\n", cleaned, result == PTHREAD_CANCELED);
  pthread_mutex_unlock(&lock);
  return 0;
}
