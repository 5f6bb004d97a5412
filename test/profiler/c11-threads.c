// SPDX-License-Identifier: MIT
// C11's mutexes and conditions are recorded like those of pthreads, with the results of C11.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("mutex")["primitive"] == "mutex"' \
// RUN:   'lock("mutex")["acquisitions"] == 3 * 997 + 2' \
// RUN:   'lock("mutex")["condition_waits"] == 2' \
// RUN:   'lock("taken")["trylock_failures"] == 11 and lock("taken")["timeouts"] == 1' \
// RUN:   'lock("taken")["wait"]["max_ns"] >= 40 * MS and lock("taken")["acquisitions"] == 1' \
// RUN:   'lock("list.lock")["acquisitions"] == 7 and lock("list.lock")["objects"] == 2' \
// RUN:   'wait("ready")["acquisitions"] == 2 and wait("ready")["timeouts"] == 1' \
// RUN:   'wait("ready")["wait"]["max_ns"] >= 40 * MS' \
// RUN:   'wait("ready")["signals"] == 1 and wait("ready")["broadcasts"] == 1' \
// RUN:   'profile["threads"] == 6' \
// RUN:   'not any(profile["dropped"].values())'
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex, taken;
static cnd_t ready;
struct list {
  mtx_t lock;
} *lists[2];
static int woken;

static void expect(int condition) {
  if (!condition)
    abort();
}

static void sleep_ms(int ms) { thrd_sleep(&(struct timespec){0, ms * 1000 * 1000}, NULL); }

static int count(void *argument) {
  for (int i = 0; i < 997; i++) {
    mtx_lock(&mutex);
    mtx_unlock(&mutex);
  }
  return argument == &mutex ? 41 : 42;
}

static int wake(void *argument) {
  (void)argument;
  mtx_lock(&mutex); /* the other thread waits */
  sleep_ms(50);
  woken = 1;
  cnd_signal(&ready);
  cnd_broadcast(&ready);
  mtx_unlock(&mutex);
  return 0;
}

static int try(void *argument) {
  struct timespec until;
  (void)argument;
  for (int i = 0; i < 11; i++)
    expect(mtx_trylock(&taken) == thrd_busy);
  timespec_get(&until, TIME_UTC);
  until.tv_sec += 1;
  expect(mtx_timedlock(&taken, &until) == thrd_timedout);
  return 0;
}

static void make(int i) {
  lists[i] = calloc(1, sizeof *lists[i]);
  mtx_init(&lists[i]->lock, mtx_plain);
}

int main(void) {
  thrd_t threads[3], thread;
  struct timespec past = {1, 0};
  int result;
  mtx_init(&mutex, mtx_plain);
  mtx_init(&taken, mtx_timed);
  cnd_init(&ready);
  for (int i = 0; i < 3; i++)
    thrd_create(&threads[i], count, &mutex);
  for (int i = 0; i < 3; i++)
    expect(thrd_join(threads[i], &result) == thrd_success && result == 41);
  for (int i = 0; i < 2; i++)
    make(i);
  for (int i = 0; i < 7; i++) {
    mtx_lock(&lists[i % 2]->lock);
    mtx_unlock(&lists[i % 2]->lock);
  }
  mtx_destroy(&lists[0]->lock);
  mtx_lock(&taken);
  thrd_create(&thread, try, NULL);
  thrd_join(thread, NULL);
  mtx_unlock(&taken);
  mtx_lock(&mutex);
  thrd_create(&thread, wake, NULL);
  while (!woken)
    cnd_wait(&ready, &mutex);
  expect(cnd_timedwait(&ready, &mutex, &past) == thrd_timedout);
  mtx_unlock(&mutex);
  thrd_join(thread, NULL);
  cnd_destroy(&ready);
  return 0;
}
