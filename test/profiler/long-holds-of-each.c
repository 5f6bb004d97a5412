// SPDX-License-Identifier: MIT
// Long holds, each of which is timed, are as long in the figures of one lock, thread and call as in
// those of their class, however many short ones between them chance has chosen.
// REQUIRES: plain
// RUN: %cc -g -O1 %s -o %t -pthread
// RUN: %cc -g -O1 -DCONVERTED -I%include %s %librelock -o %t.converted -lpthread
// RUN: %relock profile --sample-interval=0 -o %t.profile -- %t
// RUN: %relock profile -o %t.both -- %t.converted
// RUN: env RELOCK_STATS=%t.stats %t.converted
// RUN: for profile in profile both stats; do \
// RUN:   %python %S/Inputs/expect.py %t.$profile \
// RUN:     'all(10 * MS <= lock(n)["hold"]["total_ns"] for n in "abcdef")' \
// RUN:     'all(10 * MS <= max(s["hold_ns"] for s in lock(n)["sites"]) for n in "abcdef")' \
// RUN:     || exit 1; \
// RUN: done
// RUN: for profile in profile both; do \
// RUN:   %python %S/Inputs/expect.py %t.$profile \
// RUN:     'all(10 * MS <= c["hold_ns"] for c in thread("main")["classes"] if c["acquisitions"] > 5)' \
// RUN:     || exit 1; \
// RUN: done
// RUN: %python %S/Inputs/expect.py %t.profile \
// RUN:   'all(10 * MS <= lock(n)["locks"][0]["hold_ns"] for n in "abcdef")'
#include <pthread.h>
#include <unistd.h>

#ifdef CONVERTED
#include <relock/relock.h>
#define LOCK(name)                                                                                 \
  RELOCK_LOCK_CLASS(name##_class, #name, "posix");                                                 \
  static relock_mutex_t name = RELOCK_MUTEX_INITIALIZER(name##_class)
#define pthread_mutex_t relock_mutex_t
#define pthread_mutex_lock relock_mutex_lock
#define pthread_mutex_unlock relock_mutex_unlock
#else
#define LOCK(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#endif

LOCK(a);
LOCK(b);
LOCK(c);
LOCK(d);
LOCK(e);
LOCK(f);

static __attribute__((noinline)) int hold(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  usleep(1000);
  return pthread_mutex_unlock(mutex);
}

static __attribute__((noinline)) int touch(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  return pthread_mutex_unlock(mutex);
}

int main(void) {
  static pthread_mutex_t *const all[] = {&a, &b, &c, &d, &e, &f};
  int failed = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 10; j++)
      failed |= hold(all[i]);
  for (int j = 0; j < 4000; j++)
    for (int i = 0; i < 6; i++)
      if (j < 200 << i % 4)
        failed |= touch(all[i]);
  return failed;
}
