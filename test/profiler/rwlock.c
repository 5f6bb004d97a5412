// SPDX-License-Identifier: MIT
// Readers and writers of an rwlock are counted and timed apart; both are time in sections, and
// what readers do at the same time is counted for each of them.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("counted")["primitive"] == "rwlock"' \
// RUN:   'lock("counted")["acquisitions"] == 3 * 997' \
// RUN:   'lock("counted")["hold"]["count"] == 3 * 997' \
// RUN:   'lock("counted")["readers"]["acquisitions"] == 3 * 2 * 991' \
// RUN:   'lock("counted")["readers"]["hold"]["count"] == 3 * 2 * 991' \
// RUN:   'lock("table.lock")["acquisitions"] == 3 * 7 and lock("table.lock")["objects"] == 2' \
// RUN:   'lock("table.lock")["readers"]["acquisitions"] == 3 * 13' \
// RUN:   'lock("shared")["readers"]["contended"] == 0 and lock("shared")["contended"] == 1' \
// RUN:   'lock("shared")["wait"]["count"] == 3 and lock("shared")["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'lock("shared")["wait"]["total_ns"] >= 80 * MS and lock("shared")["timeouts"] == 2' \
// RUN:   'lock("shared")["trylock_failures"] == 11 and lock("shared")["acquisitions"] == 1' \
// RUN:   'lock("shared")["readers"]["hold"]["max_ns"] >= 80 * MS' \
// RUN:   'lock("written")["readers"]["contended"] == 1' \
// RUN:   'lock("written")["readers"]["wait"]["count"] == 3' \
// RUN:   'lock("written")["readers"]["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'lock("written")["readers"]["timeouts"] == 2 and lock("written")["timeouts"] == 0' \
// RUN:   'lock("written")["readers"]["trylock_failures"] == 13' \
// RUN:   'lock("written")["hold"]["max_ns"] >= 80 * MS and lock("written")["contended"] == 0' \
// RUN:   'profile["section_ns"] >= 160 * MS and profile["foreign_releases"] == 0' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report --json %t.profile > %t.json
// RUN: %python %S/Inputs/expect.py %t.json \
// RUN:   'lock("written")["primitive"] == "rwlock"' \
// RUN:   'lock("written")["readers"]["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'lock("shared")["readers"]["acquisitions"] == 1'
// RUN: %relock report %t.profile | FileCheck %s
// CHECK: {{^shared +1 +100\.0% wait}}
// CHECK-NEXT: {{^ +hold}}
// CHECK-NEXT: {{^  readers +1 +0\.0% wait}}
// CHECK-NEXT: {{^ +hold}}
// CHECK-NEXT: {{^  rwlock, its writers first, trylocks failed 11, timed out 2$}}
#define _GNU_SOURCE
#include "Inputs/until-it-waits.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_rwlock_t counted = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
struct table {
  pthread_rwlock_t lock;
} *tables[2];

static void *count(void *argument) {
  for (int i = 0; i < 997; i++) {
    pthread_rwlock_wrlock(&counted);
    pthread_rwlock_unlock(&counted);
  }
  for (int i = 0; i < 991; i++) {
    pthread_rwlock_rdlock(&counted);
    if (pthread_rwlock_tryrdlock(&counted))
      abort();
    pthread_rwlock_unlock(&counted);
    pthread_rwlock_unlock(&counted);
  }
  for (int i = 0; i < 7; i++) {
    pthread_rwlock_wrlock(&tables[i % 2]->lock);
    pthread_rwlock_unlock(&tables[i % 2]->lock);
  }
  for (int i = 0; i < 13; i++) {
    pthread_rwlock_rdlock(&tables[i % 2]->lock);
    pthread_rwlock_unlock(&tables[i % 2]->lock);
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

static void expect(int result, int expected) {
  if (result != expected)
    abort();
}

static void *wait_to_write(void *argument) {
  struct timespec until = soon(CLOCK_REALTIME);
  for (int i = 0; i < 11; i++)
    expect(pthread_rwlock_trywrlock(&shared), EBUSY);
  expect(pthread_rwlock_timedwrlock(&shared, &until), ETIMEDOUT);
  until = soon(CLOCK_MONOTONIC);
  expect(pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &until), ETIMEDOUT);
  until.tv_nsec = -1;
  expect(pthread_rwlock_timedwrlock(&counted, &until), EINVAL);
  about_to_wait();
  expect(pthread_rwlock_wrlock(&shared), 0);
  expect(pthread_rwlock_wrlock(&shared), EDEADLK);
  expect(pthread_rwlock_unlock(&shared), 0);
  return argument;
}

static void *wait_to_read(void *argument) {
  struct timespec until = soon(CLOCK_REALTIME);
  for (int i = 0; i < 13; i++)
    expect(pthread_rwlock_tryrdlock(&written), EBUSY);
  expect(pthread_rwlock_timedrdlock(&written, &until), ETIMEDOUT);
  until = soon(CLOCK_MONOTONIC);
  expect(pthread_rwlock_clockrdlock(&written, CLOCK_MONOTONIC, &until), ETIMEDOUT);
  until.tv_nsec = 1000000000;
  expect(pthread_rwlock_timedrdlock(&counted, &until), EINVAL);
  about_to_wait();
  expect(pthread_rwlock_rdlock(&written), 0);
  expect(pthread_rwlock_unlock(&written), 0);
  return argument;
}

static void hold_against(pthread_rwlock_t *lock, void *(*waiter)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, waiter, NULL);
  until_it_waits(thread);
  pthread_rwlock_unlock(lock);
  pthread_join(thread, NULL);
}

static struct table *make(void) {
  struct table *table = calloc(1, sizeof *table);
  pthread_rwlock_init(&table->lock, NULL);
  return table;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 2; i++)
    tables[i] = make();
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  pthread_rwlock_rdlock(&shared);
  hold_against(&shared, wait_to_write);
  pthread_rwlock_wrlock(&written);
  hold_against(&written, wait_to_read);
  for (int i = 0; i < 2; i++)
    pthread_rwlock_destroy(&tables[i]->lock);
  return 0;
}
