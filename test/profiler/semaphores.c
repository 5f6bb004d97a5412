// SPDX-License-Identifier: MIT
// Waits for semaphores and barriers are counted and timed; results, error numbers and cancellation
// are the real functions'.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'wait("counted")["primitive"] == "semaphore"' \
// RUN:   'wait("counted")["acquisitions"] == 3 * 997 + 7' \
// RUN:   'wait("counted")["contended"] == 0 and wait("counted")["signals"] == 3 * 997 + 7' \
// RUN:   'wait("counted")["trylock_failures"] == 13' \
// RUN:   'wait("posted")["acquisitions"] == 1 and wait("posted")["contended"] == 1' \
// RUN:   'wait("posted")["wait"]["max_ns"] >= 40 * MS and wait("posted")["timeouts"] == 2' \
// RUN:   'wait("posted")["wait"]["count"] == 3' \
// RUN:   'wait("never")["acquisitions"] == 0' \
// RUN:   'wait("handled")["acquisitions"] == 17 and wait("handled")["signals"] == 17' \
// RUN:   '[w["signals"] for w in profile["waits"] if w["name"].startswith("open_named")] == [19]' \
// RUN:   'wait("gate.barrier")["primitive"] == "barrier"' \
// RUN:   'wait("gate.barrier")["acquisitions"] == 2 * 11' \
// RUN:   'wait("gate.barrier")["wait"]["count"] == 2 * 11' \
// RUN:   'wait("gate.barrier")["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'profile["classes"] == [] and profile["section_ns"] == 0' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: No lock was acquired.
// CHECK: {{^semaphores +3016 +0\.03% wait}}
// CHECK-NEXT: {{^barriers +22 +wait}}
// CHECK: {{^  posted +1 +100\.0% wait}}
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sem_t counted, posted, never, handled;
static struct gate {
  pthread_barrier_t barrier;
} gate;
static atomic_int stage;

static void expect(int condition) {
  if (!condition)
    abort();
}

static void *count(void *argument) {
  for (int i = 0; i < 997; i++) {
    sem_post(&counted);
    errno = 77;
    expect(sem_wait(&counted) == 0 && errno == 77);
  }
  return argument;
}

static struct timespec soon(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 20 * 1000 * 1000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    time.tv_sec++;
  }
  return time;
}

static void *wait_for_post(void *argument) {
  struct timespec until = soon(CLOCK_REALTIME);
  expect(sem_timedwait(&posted, &until) == -1 && errno == ETIMEDOUT);
  until = soon(CLOCK_MONOTONIC);
  expect(sem_clockwait(&posted, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
  until.tv_nsec = -1;
  expect(sem_timedwait(&counted, &until) == -1 && errno == EINVAL);
  atomic_store(&stage, 1);
  expect(sem_wait(&posted) == 0);
  return argument;
}

static void *wait_for_ever(void *argument) {
  atomic_store(&stage, 2);
  sem_wait(&never);
  return argument;
}

/* The request is there before the wait, which would not have to block. */
static void *cancelled_at_once(void *argument) {
  pthread_cancel(pthread_self());
  sem_wait(&counted);
  return argument;
}

static void *meet(void *argument) {
  int serial = 0;
  for (int i = 0; i < 11; i++) {
    if (argument && i == 5)
      usleep(100 * 1000);
    serial += pthread_barrier_wait(&gate.barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  }
  return (void *)(long)serial;
}

static void count_all(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 13; i++)
    expect(sem_trywait(&counted) == -1 && errno == EAGAIN);
  for (int i = 0; i < 7; i++)
    expect(sem_post(&counted) == 0);
  for (int i = 0; i < 7; i++)
    expect(sem_trywait(&counted) == 0);
}

static void post(int signal) {
  (void)signal;
  sem_post(&handled);
}

static void post_in_handlers(void) {
  sem_init(&handled, 0, 0);
  signal(SIGUSR1, post);
  for (int i = 0; i < 17; i++)
    raise(SIGUSR1);
  for (int i = 0; i < 17; i++)
    sem_wait(&handled);
}

static __attribute__((noinline)) sem_t *open_named(void) {
  char name[32];
  sem_t *semaphore;
  snprintf(name, sizeof name, "/relock-test-%d", (int)getpid());
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
  expect(semaphore != SEM_FAILED && sem_unlink(name) == 0);
  return semaphore;
}

static void use_named(void) {
  sem_t *semaphore = open_named();
  int value;
  for (int i = 0; i < 19; i++)
    sem_post(semaphore);
  expect(sem_getvalue(semaphore, &value) == 0 && value == 21);
  expect(sem_open("/relock-test-none", 0) == SEM_FAILED && errno == ENOENT);
  sem_close(semaphore);
}

static void meet_all(void) {
  pthread_t thread;
  void *serial;
  pthread_barrier_init(&gate.barrier, NULL, 2);
  pthread_create(&thread, NULL, meet, &gate);
  long others = (long)meet(NULL);
  pthread_join(thread, &serial);
  expect((long)serial + others == 11);
  expect(pthread_barrier_destroy(&gate.barrier) == 0);
}

int main(void) {
  pthread_t thread;
  void *result;
  sem_init(&counted, 0, 0);
  sem_init(&posted, 0, 0);
  sem_init(&never, 0, 0);
  count_all();
  post_in_handlers();
  use_named();
  pthread_create(&thread, NULL, wait_for_post, NULL);
  while (atomic_load(&stage) != 1)
    usleep(1000);
  usleep(100 * 1000);
  sem_post(&posted);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  while (atomic_load(&stage) != 2)
    usleep(1000);
  usleep(10 * 1000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  expect(result == PTHREAD_CANCELED);
  pthread_create(&thread, NULL, cancelled_at_once, NULL);
  pthread_join(thread, &result);
  expect(result == PTHREAD_CANCELED);
  meet_all();
  sem_destroy(&posted);
  return 0;
}
