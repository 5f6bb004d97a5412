/* SPDX-License-Identifier: MIT
 *
 * Barriers (runtime/collectives/) with the algorithm of RELOCK_BARRIER: wrong uses, rounds of up to
 * 65 threads, destruction as soon as one thread has returned, more threads than a round takes, fork.
 *
 *   barrier [THREADS ROUNDS SEED]    instead, rounds whose threads come early, late or asleep
 */
#define _GNU_SOURCE
#include "../../runtime/collectives/barrier.h"
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

const char *check_case;

enum { MOST_THREADS = 128, PAGE = 4096 };

static relock_barrier_t barrier;
static unsigned count_now, rounds_now;
static uint32_t serials;

static void start_all(unsigned threads, pthread_t *thread, void *(*run)(void *)) {
  for (uintptr_t i = 0; i < threads; i++)
    CHECK_EQUAL(pthread_create(&thread[i], NULL, run, (void *)i), 0);
}

static void join_all(unsigned threads, const pthread_t *thread) {
  for (unsigned i = 0; i < threads; i++)
    CHECK_EQUAL(pthread_join(thread[i], NULL), 0);
}

static void run_all(unsigned threads, void *(*run)(void *)) {
  pthread_t thread[MOST_THREADS];
  start_all(threads, thread, run);
  join_all(threads, thread);
}

static bool wait_for_all(relock_barrier_t *which) {
  const int result = relock_barrier_wait(which);
  CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  return result != 0;
}

/* --- wrong uses ------------------------------------------------------------------------------ */

static void *wait_once(void *unused) {
  if (wait_for_all(&barrier))
    __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
  return unused;
}

static void wrong_uses(void) {
  check_case = "wrong_uses";
  CHECK(sizeof barrier == sizeof(pthread_barrier_t));
  CHECK(_Alignof(relock_barrier_t) == _Alignof(pthread_barrier_t));
  memset(&barrier, 0, sizeof barrier);
  CHECK_EQUAL(relock_barrier_wait(&barrier), EINVAL);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), EINVAL);
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, 0), EINVAL);
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, (unsigned)INT_MAX + 1), EINVAL);
  pthread_barrierattr_t attributes;
  CHECK_EQUAL(pthread_barrierattr_init(&attributes), 0);
  CHECK_EQUAL(relock_barrier_init(&barrier, &attributes, 1), 0);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
  CHECK_EQUAL(relock_barrier_wait(&barrier), EINVAL);
  CHECK_EQUAL(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQUAL(relock_barrier_init(&barrier, &attributes, 1), ENOTSUP);
  CHECK_EQUAL(pthread_barrierattr_destroy(&attributes), 0);
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, INT_MAX), 0);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
}

/* A barrier in which somebody waits stays. */
static void busy(void) {
  check_case = "busy";
  pthread_t other;
  serials = 0;
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, 2), 0);
  CHECK_EQUAL(pthread_create(&other, NULL, wait_once, NULL), 0);
  while (!barrier.relock_private.algorithm->is_busy(&barrier))
    usleep(1000);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), EBUSY);
  wait_once(NULL);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
  CHECK_EQUAL(serials, 1);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
}

/* --- rounds ---------------------------------------------------------------------------------- */

/* Plain: what threads see of each other is ordered by the barrier only. In turns, so that nobody
 * writes what others read. */
static struct {
  _Alignas(64) uint32_t came[2];
} worker[MOST_THREADS];
static uint32_t serials_of[2];
static bool delays;
static unsigned first_seed;

static void delay(unsigned *seed);

static void *do_rounds(void *id) {
  const unsigned self = (unsigned)(uintptr_t)id;
  unsigned seed = first_seed * MOST_THREADS + self;
  for (uint32_t round = 0; round < rounds_now; round++) {
    if (delays)
      delay(&seed);
    worker[self].came[round % 2] = round + 1;
    if (wait_for_all(&barrier))
      serials_of[round % 2]++;
    for (unsigned i = 0; i < count_now; i++)
      CHECK_EQUAL(worker[i].came[round % 2], round + 1);
  }
  return NULL;
}

static void rounds(unsigned count, uint32_t number) {
  check_case = "rounds";
  count_now = count;
  rounds_now = number;
  memset(worker, 0, sizeof worker);
  memset(serials_of, 0, sizeof serials_of);
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, count), 0);
  run_all(count, do_rounds);
  CHECK_EQUAL(serials_of[0] + serials_of[1], number);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
}

/* --- destruction ----------------------------------------------------------------------------- */

enum { BARRIERS = 64 };
static relock_barrier_t *page[BARRIERS]; /* each is alone in its page */

static void make_page(int i) {
  page[i] = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page[i] != MAP_FAILED);
  CHECK_EQUAL(relock_barrier_init(page[i], NULL, count_now), 0);
}

/* The one that is told so takes the page away while others may not have left, and makes another
 * barrier of the same nodes. */
static void *destroy_at_once(void *unused) {
  for (int i = 0; i < BARRIERS; i++) {
    relock_barrier_t *mine = page[i];
    if (!wait_for_all(mine))
      continue;
    CHECK_EQUAL(relock_barrier_destroy(mine), 0);
    CHECK_EQUAL(munmap(mine, PAGE), 0);
    if (i + 2 < BARRIERS)
      make_page(i + 2);
  }
  return unused;
}

static void destruction(unsigned count) {
  check_case = "destruction";
  count_now = count;
  make_page(0);
  make_page(1);
  run_all(count, destroy_at_once);
}

/* --- too many -------------------------------------------------------------------------------- */

static uint32_t arrivals; /* left */

static void *wait_often(void *unused) {
  for (;;) {
    uint32_t left = __atomic_load_n(&arrivals, __ATOMIC_RELAXED);
    while (left > 0 && !__atomic_compare_exchange_n(&arrivals, &left, left - 1, false,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (left == 0)
      return unused;
    wait_once(NULL);
  }
}

/* Three times as many threads as a round takes, any of which may be in it. */
static void too_many(unsigned count, uint32_t number) {
  check_case = "too_many";
  serials = 0;
  arrivals = count * number;
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, count), 0);
  run_all(3 * count, wait_often);
  CHECK_EQUAL(serials, number);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
}

/* --- fork ------------------------------------------------------------------------------------ */

/* The child finds a barrier as it was, if nobody waited there, and has others. */
static void in_child(void) {
  check_case = "in_child";
  count_now = 4;
  CHECK_EQUAL(relock_barrier_init(&barrier, NULL, count_now), 0);
  rounds_now = 3;
  memset(worker, 0, sizeof worker);
  run_all(count_now, do_rounds);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    memset(worker, 0, sizeof worker);
    run_all(count_now, do_rounds);
    CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
    rounds(3, 10);
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(relock_barrier_destroy(&barrier), 0);
}

/* --- torture --------------------------------------------------------------------------------- */

/* Of one round in four: a thread comes late, asleep, or having let others go first. */
static void delay(unsigned *seed) {
  switch (rand_r(seed) % 16) {
  case 0:
    usleep((unsigned)rand_r(seed) % 100);
    break;
  case 1:
  case 2:
    sched_yield();
    break;
  case 3:
    for (int i = rand_r(seed) % 1000; i > 0; i--)
      __asm__ __volatile__("");
    break;
  }
}

static void torture(unsigned threads, uint32_t number, unsigned seed) {
  delays = true;
  first_seed = seed;
  printf("barrier: %u threads, %u rounds, seed %u\n", threads, number, seed);
  rounds(threads, number);
}

int main(int arguments, char **argument) {
  alarm(300);
  if (arguments == 4) {
    torture((unsigned)atoi(argument[1]), (uint32_t)atoi(argument[2]), (unsigned)atoi(argument[3]));
  } else {
    wrong_uses();
    busy();
    for (unsigned count = 1; count <= 65; count++)
      rounds(count, 20);
    rounds(2, 20000);
    rounds(5, 2000);
    for (unsigned count = 1; count <= 40; count = count * 2 + 1)
      destruction(count);
    for (unsigned count = 1; count <= 40; count = count * 2 + 1)
      too_many(count, 200);
    in_child();
  }
  puts("barrier: ok");
  return 0;
}
