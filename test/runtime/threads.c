/* SPDX-License-Identifier: MIT
 *
 * Threads and processes that come and go, mutexes that do, and holders under pressure. The
 * conformance client runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "check.h"
#include "conformance.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- threads and processes ------------------------------------------------------------------- */

static void *live_briefly(void *unused) {
  long one = 1;
  relock_execute(&first, guarded, &one);
  relock_mutex_lock(&first);
  guarded(&one);
  relock_mutex_unlock(&first);
  relock_execute_any_thread(&first, guarded, &one);
  return unused;
}

void threads_come_and_go(void) {
  enum { GENERATIONS = 200, TOGETHER = 12 };
  counter = 0;
  for (int i = 0; i < GENERATIONS; i++)
    check_run_threads(TOGETHER, live_briefly, NULL);
  CHECK_EQUAL(counter, 3 * GENERATIONS * TOGETHER);
  /* More threads than any table has entries: what they used was given back. */
  check_run_threads(1, delegate_as_new_thread, NULL);
}

static int stop_hammering;

static void *hammer(void *unused) {
  long one = 1;
  while (!__atomic_load_n(&stop_hammering, __ATOMIC_RELAXED)) {
    relock_execute_any_thread(&first, guarded, &one);
    relock_mutex_lock(&first);
    guarded(&one);
    relock_mutex_unlock(&first);
    relock_execute(&first, guarded, &one);
  }
  return unused;
}

/* In a child: everything works, also for new threads. The mutex is held by the forking thread,
 * others wait for it in the parent. */
static void use_in_child(void) {
  long one = 1;
  struct timespec past = {0, 0};
  CHECK_EQUAL(relock_mutex_unlock(&first), 0);
  CHECK_EQUAL(relock_mutex_lock(&first), 0);
  CHECK_EQUAL(relock_cond_timedwait(&gate.changed, &first, &past), ETIMEDOUT);
  CHECK_EQUAL(relock_mutex_unlock(&first), 0);
  CHECK_EQUAL(relock_execute(&first, guarded, &one), 1);
#ifndef __SANITIZE_THREAD__ /* which cannot start threads in the child of a threaded process */
  counter = 0;
  __atomic_store_n(&stop_hammering, 0, __ATOMIC_RELAXED);
  check_run_threads(4, mix, NULL);
  CHECK_EQUAL(counter, 4 * ROUNDS);
  signal_and_broadcast();
  CHECK(!delegates() || is_delegated(true));
#endif
}

void fork_in_threaded_program(void) {
  pthread_t threads[4];
  __atomic_store_n(&stop_hammering, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; i++)
    threads[i] = check_start(hammer, NULL);
  for (int i = 0; i < 5; i++) {
    usleep(5000);
    CHECK_EQUAL(relock_mutex_lock(&first), 0);
    usleep(2000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(30);
      use_in_child();
      _exit(0);
    }
    CHECK_EQUAL(relock_mutex_unlock(&first), 0);
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
  __atomic_store_n(&stop_hammering, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; i++)
    check_join(threads[i]);
}

/* --- lifetime -------------------------------------------------------------------------------- */

struct object {
  relock_mutex_t mutex;
  long references;
};

static int drop_reference(void *context) { return --((struct object *)context)->references == 0; }

static void *use_and_drop(void *context) {
  struct object *object = context;
  if (relock_execute_any_thread(&object->mutex, drop_reference, object))
    CHECK_EQUAL(munmap(object, sizeof *object), 0); /* whoever still uses it crashes */
  return NULL;
}

void last_section_may_free_the_mutex(void) {
  enum { USERS = 4 };
  for (int i = 0; i < 300; i++) {
    struct object *object =
        mmap(NULL, sizeof *object, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(object != MAP_FAILED);
    object->references = USERS;
    pthread_t thread[USERS];
    CHECK_EQUAL(relock_mutex_lock(&object->mutex), 0);
    for (int k = 0; k < USERS; k++)
      thread[k] = check_start(use_and_drop, object);
    usleep(i % 2 ? 0 : 500); /* sections that queue behind this holder, or race with it */
    CHECK_EQUAL(relock_mutex_unlock(&object->mutex), 0);
    for (int k = 0; k < USERS; k++)
      check_join(thread[k]);
  }
}

/* --- fairness -------------------------------------------------------------------------------- */

static void *acquire_under_pressure(void *longest) {
  for (int i = 0; i < 20; i++) {
    double start = check_seconds();
    CHECK_EQUAL(relock_mutex_lock(&first), 0);
    double waited = check_seconds() - start;
    CHECK_EQUAL(relock_mutex_unlock(&first), 0);
    if (waited > *(double *)longest)
      *(double *)longest = waited;
  }
  return NULL;
}

/* Generous: it is there to find a holder that is passed for ever. */
void holders_are_not_starved(void) {
  pthread_t threads[6];
  double longest = 0;
  __atomic_store_n(&stop_hammering, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < 6; i++)
    threads[i] = check_start(hammer, NULL);
  check_run_threads(1, acquire_under_pressure, &longest);
  __atomic_store_n(&stop_hammering, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 6; i++)
    check_join(threads[i]);
  CHECK(longest < 20);
}
