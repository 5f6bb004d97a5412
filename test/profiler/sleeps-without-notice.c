// SPDX-License-Identifier: MIT
// A system that does not say that a thread has slept in a system call (Linux from 6.19 on): no hold
// that begins after such a sleep, and in which the thread is then interrupted, is taken to have
// begun before it. The program makes the system so: the moment's sleep by which the profiler finds
// out is none, and its own sleeps leave the mark in the thread's area.
// REQUIRES: plain
// RUN: %cc -g -O1 %s -o %t -pthread -rdynamic
// RUN: %relock profile --sample-interval=1000000 -o %t.profile -- %t
// RUN: %python %S/Inputs/expect.py %t.profile 'lock("hurried")["acquisitions"] == 200020' \
// RUN:   'lock("hurried")["hold"]["total_ns"] < 3000 * MS' \
// RUN:   'profile["section_ns"] < 3000 * MS'
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
static volatile uint64_t *mark(void) {
  struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
  return __rseq_size ? (volatile uint64_t *)&area->rseq_cs : NULL;
}
#else
static volatile uint64_t *mark(void) { return NULL; }
#endif

enum { HURRIED = 10000, SLEEPS = 20, SLEEP_MS = 300 };

static pthread_mutex_t hurried = PTHREAD_MUTEX_INITIALIZER;

/* The profiler's. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                    struct timespec *left) {
  (void)clock, (void)flags, (void)time, (void)left;
  return 0;
}

static void sleep_without_notice(void) {
  const struct timespec time = {0, SLEEP_MS * 1000000};
  const uint64_t before = mark() ? *mark() : 0;
  nanosleep(&time, NULL);
  if (mark())
    *mark() = before;
}

/* As an interrupt that lets another thread run. */
static void be_interrupted(void) {
  if (mark())
    *mark() = 0;
}

/* More than those that are timed after a long one. */
static void hurry(void) {
  for (int i = 0; i < HURRIED; i++) {
    pthread_mutex_lock(&hurried);
    pthread_mutex_unlock(&hurried);
  }
}

int main(void) {
  for (int i = 0; i < SLEEPS; i++) {
    hurry();
    sleep_without_notice();
    pthread_mutex_lock(&hurried);
    be_interrupted();
    pthread_mutex_unlock(&hurried);
  }
  return 0;
}
