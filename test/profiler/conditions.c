// SPDX-License-Identifier: MIT
// Waits for conditions are counted and timed for the condition, told apart from waiting for locks
// and from sections; a thread that is cancelled, or still waits at the end, has waited too.
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %relock profile -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'wait("queue.ready")["primitive"] == "condition"' \
// RUN:   'wait("queue.ready")["acquisitions"] == 97 and wait("queue.ready")["timeouts"] == 97' \
// RUN:   'wait("queue.ready")["signals"] == 13 and wait("queue.ready")["broadcasts"] == 11' \
// RUN:   'wait("queue.ready")["objects"] == 2 and wait("queue.ready")["wait"]["count"] == 97' \
// RUN:   'wait("woken")["acquisitions"] == 1 and wait("woken")["timeouts"] == 0' \
// RUN:   'wait("woken")["wait"]["max_ns"] >= 40 * MS and wait("woken")["contended"] == 0' \
// RUN:   'wait("never")["acquisitions"] == 2 and wait("never")["wait"]["count"] == 1' \
// RUN:   'wait("never")["wait"]["total_ns"] >= 30 * MS' \
// RUN:   'lock("mutex")["condition_waits"] == 98 and lock("mutex")["wait"]["total_ns"] == 0' \
// RUN:   'lock("mutex")["held_at_end"] == 0' \
// RUN:   'profile["section_ns"] < profile["duration_ns"]' \
// RUN:   'not any(profile["dropped"].values())'
// RUN: %relock report --json %t.profile > %t.json
// RUN: %python %S/Inputs/expect.py %t.json \
// RUN:   'wait("queue.ready")["primitive"] == "condition"' \
// RUN:   'wait("queue.ready")["signals"] == 13 and wait("queue.ready")["broadcasts"] == 11'
// RUN: %relock report %t.profile | FileCheck %s
// RUN: %relock report --limit=1 %t.profile | FileCheck %s --check-prefix=LIMIT
// RUN: %relock report --explain %t.profile > %t.out
// RUN: not grep -E '.{81}' %t.out
// CHECK: Other waiting, for no lock; in conditions mostly idle time, or for a turn:
// CHECK: {{^WAITED FOR +WAITS +BLOCK +TOTAL +MEAN +P50 +P99 +MAX$}}
// CHECK-NEXT: {{^conditions +100 +idle +[0-9.]+m?s +[0-9.]+.s +- +- +[0-9.]+m?s$}}
// CHECK: {{^  queue.ready +97 +idle}}
// CHECK-NEXT: {{^    conditions 2, timed out 97, signals 13, broadcasts 11$}}
// LIMIT: Other waiting
// LIMIT: 2 more; --limit=0 shows them all.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
struct queue {
  pthread_cond_t ready;
} *queues[2];
static int begun;

/* Gets the mutex when the other thread waits, and never waits for it. */
static void *wake(void *argument) {
  while (pthread_mutex_trylock(&mutex))
    usleep(1000);
  usleep(50 * 1000);
  begun = 1;
  pthread_cond_signal(&woken);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void release(void *argument) { pthread_mutex_unlock(argument); }

static void *wait_for_ever(void *argument) {
  pthread_mutex_lock(&other);
  pthread_cleanup_push(release, &other);
  ++*(atomic_int *)argument;
  for (;;)
    pthread_cond_wait(&never, &other);
  pthread_cleanup_pop(1);
  return argument;
}

static void give_up(pthread_cond_t *condition) {
  struct timespec until = {1, 0};
  if (pthread_cond_timedwait(condition, &mutex, &until) != ETIMEDOUT)
    abort();
}

static void make(int i) {
  queues[i] = calloc(1, sizeof *queues[i]);
  pthread_cond_init(&queues[i]->ready, NULL);
}

/* Once it has the mutex, the thread waits. */
static void await(atomic_int *waits) {
  while (!atomic_load(waits))
    usleep(1000);
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
}

int main(void) {
  pthread_t thread;
  atomic_int waits = 0;
  struct timespec invalid = {0, -1};
  for (int i = 0; i < 2; i++)
    make(i);
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 97; i++)
    give_up(&queues[i % 2]->ready);
  pthread_create(&thread, NULL, wake, NULL);
  while (!begun)
    pthread_cond_wait(&woken, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  for (int i = 0; i < 13; i++)
    pthread_cond_signal(&queues[0]->ready);
  for (int i = 0; i < 11; i++)
    pthread_cond_broadcast(&queues[1]->ready);
  pthread_cond_destroy(&queues[0]->ready);
  pthread_mutex_lock(&other);
  if (pthread_cond_timedwait(&never, &other, &invalid) != EINVAL)
    abort();
  pthread_mutex_unlock(&other);
  pthread_create(&thread, NULL, wait_for_ever, &waits);
  await(&waits);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  waits = 0;
  pthread_create(&thread, NULL, wait_for_ever, &waits);
  await(&waits);
  usleep(30 * 1000);
  return 0;
}
