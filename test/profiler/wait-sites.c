// SPDX-License-Identifier: MIT
// Which calls wait for conditions, semaphores, barriers and raw futexes: with every wait as a
// sample the numbers of each call are exact. A wait that has not ended has no call.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile --sample-interval=0 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'waiting_in("turned", "take_turn")["contended"] == 3' \
// RUN:   'waiting_in("turned", "take_turn")["wait_ns"] >= 60 * MS' \
// RUN:   'waiting_in("turned", "take_break")["contended"] == 2' \
// RUN:   'waiting_in("turned", "take_break")["samples"] == 2' \
// RUN:   'wait("turned")["acquisitions"] == 6' \
// RUN:   'wait("turned")["wait"]["total_ns"] > waiting_in("turned")["wait_ns"] + 50 * MS' \
// RUN:   'waiting_in("posted", "wait_for_post")["contended"] == 1' \
// RUN:   'waiting_in("met", "meet")["contended"] == 2' \
// RUN:   'waiting_in("futex (raw)", "wait_raw")["contended"] == 1' \
// RUN:   'lock("mutex")["contended"] == 0' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// RUN: FileCheck %s < %t.out
// RUN: %relock report --sites=0 %t.profile | FileCheck %s --check-prefix=NONE
// CHECK: Where they wait for no lock, estimated from samples:
// CHECK: {{^turned$}}
// CHECK-NEXT: {{^  waited [0-9.]+ms \([0-9.]+%\), 3 times$}}
// CHECK-NEXT: {{^    take_turn \(wait-sites.c:[0-9]+\) < main}}
// NONE-NOT: Where they wait
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of take_turn and its waker */
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t met;
static sem_t posted;
static uint32_t word;

static struct timespec after(long milliseconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += milliseconds * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

/* Whoever finds WAITING set under TURN knows that take_turn's wait has begun: from there on it is
   at least 20 ms, however late a thread runs on a loaded machine. */
static int waiting;

static void *wake_later(void *argument) {
  int begun = 0;
  while (!begun) {
    usleep(1000);
    pthread_mutex_lock(&turn);
    begun = waiting;
    pthread_mutex_unlock(&turn);
  }
  usleep(20 * 1000);
  pthread_mutex_lock(&turn);
  waiting = 0;
  pthread_cond_signal(&turned);
  pthread_mutex_unlock(&turn);
  return argument;
}

static __attribute__((noinline)) int take_turn(void) {
  pthread_t waker;
  pthread_create(&waker, NULL, wake_later, NULL);
  pthread_mutex_lock(&turn);
  waiting = 1;
  while (waiting)
    pthread_cond_wait(&turned, &turn);
  pthread_mutex_unlock(&turn);
  return pthread_join(waker, NULL);
}

static __attribute__((noinline)) int take_break(void) {
  struct timespec until = after(1);
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&turned, &mutex, &until) == 0)
    ;
  return pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int wait_for_post(void) {
  struct timespec until = after(1);
  sem_timedwait(&posted, &until);
  return 1;
}

static __attribute__((noinline)) int wait_raw(void) {
  struct timespec time = {0, 1000 * 1000};
  syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
  return 1;
}

static __attribute__((noinline)) int meet(void) { return pthread_barrier_wait(&met) + 1; }

static void *other(void *argument) {
  meet();
  pthread_mutex_lock(&mutex);
  for (;;)
    pthread_cond_wait(&turned, &mutex); /* until the program ends */
  return argument;
}

int main(void) {
  pthread_t thread;
  sem_init(&posted, 0, 0);
  pthread_barrier_init(&met, NULL, 2);
  for (int i = 0; i < 3; i++)
    take_turn();
  for (int i = 0; i < 2; i++)
    take_break();
  wait_for_post();
  wait_raw();
  pthread_create(&thread, NULL, other, NULL);
  meet();
  usleep(100 * 1000);
  return 0;
}
