// SPDX-License-Identifier: MIT
// Of a thread that takes more than a million locks per second the profiler times one hold in so
// many, chosen at random. What it counts stays exact; what it times is right on the whole, though
// the program's rhythm would hide every eighth lock from a profiler that chose regularly; and a
// hold in which the thread waits, or sleeps, is timed in any case. What threads hold is exact where
// all but one have all of it timed. The program times its holds too.
// RUN: %cc -g -O1 %s -o %t -I%source_root/runtime/profiler -pthread
// RUN: for attempt in 1 2 3 failed; do test $attempt != failed || exit 1; \
// RUN:   %relock profile --sample-interval=1000000 -o %t.profile -- %t > %t.truth || exit 1; \
// RUN:   %python %S/Inputs/timed-holds.py %t.profile %t.truth && break; \
// RUN: done
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("brief")["acquisitions"] == 875009 and lock("longer")["acquisitions"] == 125000' \
// RUN:   'all(lock(n)["hold"]["count"] == lock(n)["acquisitions"] for n in ("brief", "longer"))' \
// RUN:   'lock("inner")["acquisitions"] == 125000 and inside("inner", "longer") == 125000' \
// RUN:   'held("main", "brief") == 875004 and held("seldom", "brief") == 5' \
// RUN:   'profile["sections"] == 1000009 and not any(profile["dropped"].values())' \
// RUN:   'lock("brief")["hold"]["timed"] < 875009 / 3' \
// RUN:   'lock("longer")["hold"]["timed"] < 125000 / 3' \
// RUN:   'all(0 < lock(n)["hold"]["relative_standard_error"] for n in ("brief", "longer"))' \
// RUN:   'lock("brief")["hold"]["max_ns"] >= 50 * MS'
// RUN: %relock report %t.profile | tr '\n' ' ' | FileCheck %s
// CHECK: of the holds {{ *}}were, and stand for the others
// RUN: %relock profile --time-all -o %t.all -- %t
// RUN: %python %S/Inputs/expect.py %t.all \
// RUN:   'lock("brief")["hold"]["timed"] == lock("brief")["hold"]["count"] == 875009' \
// RUN:   'all(lock(n)["hold"]["relative_standard_error"] == 0 for n in ("brief", "longer"))' \
// RUN:   'profile["overhead"]["holds_timed"] == profile["overhead"]["holds"]'
// RUN: %relock report %t.all | FileCheck %s --check-prefix=ALL
// ALL-NOT: stand for the others
#include "layout.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 1000000, PERIOD = 8 };

static pthread_mutex_t brief = PTHREAD_MUTEX_INITIALIZER, longer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;
static uint64_t brief_ticks, longer_ticks;

/* The sum gets how long that was. */
static void stay(uint64_t ticks, uint64_t *sum) {
  uint64_t start = relock_ticks(), now;
  while ((now = relock_ticks()) - start < ticks)
    ;
  *sum += now - start;
}

static void wait_a_little(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  sem_timedwait(&never, &until);
}

static void hold_brief(void (*while_held)(void)) {
  uint64_t start;
  pthread_mutex_lock(&brief);
  start = relock_ticks();
  while_held();
  brief_ticks += relock_ticks() - start;
  pthread_mutex_unlock(&brief);
}

static void sleep_a_little(void) { usleep(50 * 1000); }

static void *seldom(void *argument) {
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&brief);
    stay(1200, &brief_ticks);
    pthread_mutex_unlock(&brief);
  }
  return argument;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, seldom, NULL);
  pthread_join(other, NULL);
  sem_init(&never, 0, 0);
  for (int i = 0; i < TIMES; i++) {
    if (i % PERIOD) {
      pthread_mutex_lock(&brief);
      stay(1200, &brief_ticks);
      pthread_mutex_unlock(&brief);
    } else {
      pthread_mutex_lock(&longer);
      stay(6000, &longer_ticks);
      pthread_mutex_lock(&inner);
      pthread_mutex_unlock(&inner);
      pthread_mutex_unlock(&longer);
    }
    if (i == TIMES / 2)
      hold_brief(wait_a_little);
  }
  for (int i = 0; i < 3; i++)
    hold_brief(sleep_a_little);
  printf("brief %" PRIu64 "\nlonger %" PRIu64 "\n", brief_ticks, longer_ticks);
  return 0;
}
