// SPDX-License-Identifier: MIT
// Which holders of an inner lock may wait for other threads: one that calls a wrapper that sleeps
// does; one that starts a thread, or raises a signal, does not; and neither does one beside a lock
// that a loop takes and may not release.
// RUN: %verdicts %s | FileCheck %s
// CHECK-DAG:  hold nested over_slow
// CHECK-DAG:  takes 'slow', whose holder may wait here for other threads [lock-order]
// CHECK-DAG:  hold straight sleeper
// CHECK-DAG:  'nap' calls 'lock_slowly' calls 'usleep', which may block [may-block]
// CHECK-DAG:  delegate nested over_starting
// CHECK-DAG:  delegate nested over_beside
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t napping = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t beside = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t many[8];
static int total;

static void lock_slowly(void) {
  usleep(1);
  pthread_mutex_lock(&napping);
}

static void unlock(void) { pthread_mutex_unlock(&napping); }

static void nap(void) {
  lock_slowly();
  total++;
  unlock();
}

void sleeper(void) {
  pthread_mutex_lock(&slow);
  nap();
  pthread_mutex_unlock(&slow);
}

void over_slow(void) {
  pthread_mutex_lock(&outer);
  total++;
  pthread_mutex_lock(&slow);
  total++;
  pthread_mutex_unlock(&slow);
  pthread_mutex_unlock(&outer);
}

static void *run(void *unused) {
  usleep(1);
  return unused;
}

void start(void) {
  pthread_t thread;
  pthread_mutex_lock(&starting);
  pthread_create(&thread, NULL, run, NULL);
  raise(SIGUSR1);
  pthread_mutex_unlock(&starting);
}

void over_starting(void) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&starting);
  total++;
  pthread_mutex_unlock(&starting);
  pthread_mutex_unlock(&outer);
}

void in_a_loop(int n, int keep) {
  for (int i = 0; i < n; i++) {
    pthread_mutex_lock(&many[i]);
    if (keep)
      continue;
    pthread_mutex_unlock(&many[i]);
  }
  pthread_mutex_lock(&beside);
  total++;
  pthread_mutex_unlock(&beside);
}

void over_beside(void) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&beside);
  total++;
  pthread_mutex_unlock(&beside);
  pthread_mutex_unlock(&outer);
}
