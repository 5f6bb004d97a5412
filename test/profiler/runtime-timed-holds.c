// SPDX-License-Identifier: MIT
// Of a thread that takes locks of librelock more than half a million times per second one hold in
// so many is timed, chosen at random, as of pthread locks, whether a section runs in it or not. What
// is counted stays exact, what is timed is right on the whole, and a hold in which the thread waits,
// or under the profiler sleeps, is timed in any case. The program times its holds too.
// REQUIRES: plain
// RUN: %cc -g -O1 %s %librelock -o %t -I%include -I%source_root/runtime -lpthread
// RUN: for attempt in 1 2 3 failed; do test $attempt != failed || exit 1; \
// RUN:   %relock profile --sample-interval=1000000 -o %t.profile -- %t sleep > %t.truth || exit 1; \
// RUN:   %python %S/Inputs/timed-holds.py %t.profile %t.truth && break; \
// RUN: done
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'lock("brief")["acquisitions"] == 437509 and lock("longer")["acquisitions"] == 62500' \
// RUN:   'all(c["hold"]["count"] == c["acquisitions"] for c in profile["classes"])' \
// RUN:   'all(sum(c["came_from"].values()) == c["acquisitions"] for c in profile["classes"])' \
// RUN:   'lock("brief")["handovers"] == 1 and lock("longer")["handovers"] == 0' \
// RUN:   'lock("inner")["acquisitions"] == 62501 and inside("inner", "longer") == 62500' \
// RUN:   'held("main", "brief") == 437504 and held("seldom", "brief") == 5' \
// RUN:   'site("brief", "stay_briefly", "main")["acquisitions"] == 437500' \
// RUN:   'site("brief", "hold_brief")["hold_ns"] >= 4 * 50 * MS' \
// RUN:   'profile["sections"] == 500010 and not any(profile["dropped"].values())' \
// RUN:   'lock("brief")["hold"]["timed"] < 437509 / 3' \
// RUN:   'lock("longer")["hold"]["timed"] < 62500 / 3' \
// RUN:   'all(0 < lock(n)["hold"]["relative_standard_error"] for n in ("brief", "longer"))' \
// RUN:   'profile["overhead"]["holds"] == 562510' \
// RUN:   'lock("brief")["hold"]["max_ns"] >= 50 * MS'
// RUN: %relock report %t.profile | tr '\n' ' ' | FileCheck %s
// CHECK: of the holds {{ *}}were, and stand for the others
// RUN: %relock profile --time-all -o %t.all -- %t sleep
// RUN: %python %S/Inputs/expect.py %t.all \
// RUN:   'lock("brief")["hold"]["timed"] == lock("brief")["hold"]["count"] == 437509' \
// RUN:   'all(lock(n)["hold"]["relative_standard_error"] == 0 for n in ("brief", "longer"))' \
// RUN:   'profile["overhead"]["holds_timed"] == profile["overhead"]["holds"]'
//
// The statistics by themselves do the same, but for holds in which the thread loses its processor:
// those are chosen as others are, so totals are right on a quiet machine only.
// RUN: env RELOCK_STATS=%t.alone %t > %t.truth
// RUN: %python %S/Inputs/expect.py %t.alone \
// RUN:   'lock("brief")["acquisitions"] == lock("brief")["hold"]["count"] == 437506' \
// RUN:   'lock("longer")["acquisitions"] == lock("longer")["hold"]["count"] == 62500' \
// RUN:   'profile["sections"] == 500008 and not any(profile["dropped"].values())' \
// RUN:   'lock("brief")["hold"]["timed"] < 437506 / 3' \
// RUN:   'lock("brief")["hold"]["max_ns"] >= 20 * MS' \
// RUN:   '1100 < lock("brief")["hold"]["p50_ns"] * profile["machine"]["ticks_per_second"] / 1e9 < 2000' \
// RUN:   'all(0 < lock(n)["hold"]["relative_standard_error"] for n in ("brief", "longer"))' \
// RUN:   'profile["overhead"]["holds"] == 562508'
// RUN: %relock report %t.alone | tr -s '\n ' ' ' | FileCheck %s --check-prefix=ALONE
// ALONE: source: the statistics of librelock (RELOCK_STATS){{.*}} of the holds were timed, and stand
// RUN: env RELOCK_PROFILE_TIME_ALL=1 RELOCK_STATS=%t.alone %t > %t.truth
// RUN: %python %S/Inputs/expect.py %t.alone \
// RUN:   'all(c["hold"]["timed"] == c["hold"]["count"] for c in profile["classes"])'
#include "base/atomic.h"
#include "statistics/buckets.h"

#include <inttypes.h>
#include <pthread.h>
#include <relock/relock.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CLASS(name)                                                                                \
  RELOCK_LOCK_CLASS(name##_class, #name, "adaptive");                                              \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
CLASS(brief);
CLASS(longer);
CLASS(inner);
CLASS(waited);

enum { TIMES = 500000, PERIOD = 8 };

static uint64_t brief_ticks, longer_ticks;

/* The sum gets how long that was. */
static void stay(uint64_t ticks, uint64_t *sum) {
  uint64_t start = relock_ticks(), now;
  while ((now = relock_ticks()) - start < ticks)
    ;
  *sum += now - start;
}

static int stay_briefly(void *unused) {
  stay(1200, &brief_ticks);
  return unused != NULL;
}

static void hold_brief(void (*while_held)(void)) {
  uint64_t start;
  relock_mutex_lock(&brief);
  start = relock_ticks();
  while_held();
  brief_ticks += relock_ticks() - start;
  relock_mutex_unlock(&brief);
}

/* For another lock of librelock. */
static void wait_a_little(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  if (relock_mutex_timedlock(&waited, &until) == 0)
    _exit(3);
}

static void sleep_a_little(void) { usleep(50 * 1000); }

static void *seldom(void *unused) {
  for (int i = 0; i < 5; i++) {
    relock_mutex_lock(&brief);
    stay_briefly(NULL);
    relock_mutex_unlock(&brief);
  }
  return unused;
}

static int has, over;

static void *keep(void *unused) {
  relock_mutex_lock(&waited);
  __atomic_store_n(&has, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
    usleep(1000);
  relock_mutex_unlock(&waited);
  return unused;
}

int main(int count, char **words) {
  pthread_t other;
  (void)words;
  relock_mutex_lock(&inner); /* so that the next thread is another one for librelock */
  relock_mutex_unlock(&inner);
  pthread_create(&other, NULL, seldom, NULL);
  pthread_join(other, NULL);
  if (count == 1) { /* another thread has that lock, which makes it one more section */
    pthread_create(&other, NULL, keep, NULL);
    while (!__atomic_load_n(&has, __ATOMIC_ACQUIRE))
      usleep(1000);
  }
  for (int i = 0; i < TIMES; i++) {
    if (i % PERIOD) {
      relock_execute(&brief, stay_briefly, NULL);
    } else {
      relock_mutex_lock(&longer);
      stay(6000, &longer_ticks);
      relock_mutex_lock(&inner);
      relock_mutex_unlock(&inner);
      relock_mutex_unlock(&longer);
    }
    if (i == TIMES / 2 && count == 1)
      hold_brief(wait_a_little);
  }
  for (int i = 0; i < 4 && count > 1; i++)
    hold_brief(sleep_a_little);
  if (count == 1) {
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
  }
  printf("brief %" PRIu64 "\nlonger %" PRIu64 "\n", brief_ticks, longer_ticks);
  return 0;
}
