/* SPDX-License-Identifier: MIT
 *
 * Mutexes before main, of each kind and type: exclusion, nesting, errors and deadlines. The
 * conformance client runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "check.h"
#include "conformance.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(relock_mutex_t) == sizeof(pthread_mutex_t), "size");
_Static_assert(_Alignof(relock_mutex_t) == _Alignof(pthread_mutex_t), "alignment");
_Static_assert(sizeof(relock_cond_t) == sizeof(pthread_cond_t), "size");
_Static_assert(_Alignof(relock_cond_t) == _Alignof(pthread_cond_t), "alignment");

RELOCK_LOCK_CLASS(main_lock, "main_lock", "posix");
RELOCK_LOCK_CLASS(other_lock, "other_lock", "mcs");

relock_mutex_t zero;
relock_mutex_t first = RELOCK_MUTEX_INITIALIZER(main_lock);
relock_mutex_t second = RELOCK_MUTEX_INITIALIZER(other_lock);

relock_mutex_t new_mutex(int type) {
  relock_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, RELOCK_CLASS(main_lock)), 0);
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

/* --- before main ----------------------------------------------------------------------------- */

static long early;

static int add_early(void *context) {
  early += *(long *)context;
  return 7;
}

/* Runs before, between and after the constructors that register classes. */
static void use_early(void) {
  long one = 1;
  CHECK_EQUAL(relock_execute(&first, add_early, &one), 7);
  CHECK_EQUAL(relock_mutex_lock(&second), 0);
  CHECK_EQUAL(relock_execute(&zero, add_early, &one), 7);
  CHECK_EQUAL(relock_mutex_unlock(&second), 0);
}
__attribute__((constructor(102))) static void use_in_constructor(void) { use_early(); }
__attribute__((constructor)) static void use_in_late_constructor(void) { use_early(); }
#ifndef __SANITIZE_THREAD__ /* which is not ready before its own constructor of this priority */
__attribute__((constructor(101))) static void use_in_first_constructor(void) { use_early(); }
enum { EARLY_USES = 3 };
#else
enum { EARLY_USES = 2 };
#endif

void use_before_main(void) { CHECK_EQUAL(early, 2 * EARLY_USES); }

/* --- initialisation -------------------------------------------------------------------------- */

static int count_up(void *context) { return (int)++*(long *)context; }

void zero_filled_and_static(void) {
  relock_mutex_t filled;
  memset(&filled, 0, sizeof filled);
  static relock_mutex_t recursive = RELOCK_RECURSIVE_MUTEX_INITIALIZER(main_lock);
  static relock_mutex_t errorcheck = RELOCK_ERRORCHECK_MUTEX_INITIALIZER(main_lock);
  relock_mutex_t *all[] = {&zero, &filled, &first, &second, &recursive, &errorcheck};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    long counter = 0;
    CHECK_EQUAL(relock_mutex_lock(all[i]), 0);
    CHECK_EQUAL(relock_mutex_unlock(all[i]), 0);
    CHECK_EQUAL(relock_execute(all[i], count_up, &counter), 1);
    CHECK_EQUAL(relock_execute_any_thread(all[i], count_up, &counter), 2);
    CHECK_EQUAL(relock_mutex_destroy(all[i]), 0);
  }
  CHECK_EQUAL(relock_mutex_lock(&recursive), 0);
  CHECK_EQUAL(relock_mutex_lock(&recursive), 0);
  CHECK_EQUAL(relock_mutex_unlock(&recursive), 0);
  CHECK_EQUAL(relock_mutex_unlock(&recursive), 0);
  CHECK_EQUAL(relock_mutex_lock(&errorcheck), 0);
  CHECK_EQUAL(relock_mutex_lock(&errorcheck), EDEADLK);
  CHECK_EQUAL(relock_mutex_unlock(&errorcheck), 0);
}

void unsupported_attributes(void) {
  relock_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), ENOTSUP);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), ENOTSUP);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), ENOTSUP);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_trylock(&mutex), EBUSY);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), EBUSY);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);

  relock_cond_t cond;
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  CHECK_EQUAL(relock_cond_init(&cond, &condition), ENOTSUP);
}

/* --- exclusion ------------------------------------------------------------------------------- */

long counter;
static int inside; /* not atomic: a second thread in the section is a data race as well */

int guarded(void *context) {
  CHECK(inside == 0);
  inside = 1;
  counter += *(long *)context;
  inside = 0;
  return (int)*(long *)context;
}

void *mix(void *unused) {
  long one = 1;
  for (int i = 0; i < ROUNDS; i++) {
    struct timespec deadline = check_deadline(CLOCK_REALTIME, 60000);
    switch (i % 5) {
    case 0:
      CHECK_EQUAL(relock_execute(&first, guarded, &one), 1);
      break;
    case 1:
      CHECK_EQUAL(relock_execute_any_thread(&first, guarded, &one), 1);
      break;
    case 2:
      CHECK_EQUAL(relock_mutex_lock(&first), 0);
      guarded(&one);
      CHECK_EQUAL(relock_mutex_unlock(&first), 0);
      break;
    case 3:
      if (relock_mutex_trylock(&first) != 0)
        CHECK_EQUAL(relock_mutex_lock(&first), 0);
      guarded(&one);
      CHECK_EQUAL(relock_mutex_unlock(&first), 0);
      break;
    default:
      CHECK_EQUAL(relock_mutex_timedlock(&first, &deadline), 0);
      guarded(&one);
      CHECK_EQUAL(relock_mutex_unlock(&first), 0);
    }
  }
  return unused;
}

void mutual_exclusion_of_all_ways(void) {
  counter = 0;
  check_run_threads(THREADS, mix, NULL);
  CHECK_EQUAL(counter, THREADS * ROUNDS);
}

struct request {
  long id;
  long runs;
  long seen;
};

static int answer(void *context) {
  struct request *request = context;
  request->runs++;
  request->seen = ++counter;
  return (int)(request->id * 3 + request->runs % 3);
}

static void *ask(void *unused) {
  static long ids;
  struct request request = {.id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED)};
  long last = 0;
  for (long i = 1; i <= ROUNDS; i++) {
    int result = i % 2 ? relock_execute(&second, answer, &request)
                       : relock_execute_any_thread(&second, answer, &request);
    CHECK_EQUAL(request.runs, i);
    CHECK_EQUAL(result, request.id * 3 + i % 3);
    CHECK(request.seen > last);
    last = request.seen;
  }
  return unused;
}

void own_context_and_result_once_per_call(void) {
  counter = 0;
  check_run_threads(THREADS, ask, NULL);
  CHECK_EQUAL(counter, THREADS * ROUNDS);
}

struct conditional {
  long runs;
  int held; /* EBUSY: the mutex is */
};

static int note_whether_held(void *context) {
  struct conditional *conditional = context;
  conditional->runs++;
  conditional->held = relock_mutex_trylock(&second);
  if (conditional->held == 0)
    CHECK_EQUAL(relock_mutex_unlock(&second), 0);
  return 7;
}

static int evaluated(int condition, int *times) {
  ++*times;
  return condition;
}

static void *ask_on_condition(void *unused) {
  struct request request = {.id = 1};
  for (long i = 1; i <= ROUNDS; i++) {
    int result = i % 2 ? relock_execute_if(request.id, &second, answer, &request)
                       : relock_execute_if_any_thread(request.id != 0, &second, answer, &request);
    CHECK_EQUAL(request.runs, i);
    CHECK_EQUAL(result, 3 + i % 3);
  }
  return unused;
}

void lock_only_where_a_condition_holds(void) {
  struct conditional conditional = {0, 0};
  int times = 0;
  CHECK_EQUAL(relock_execute_if(evaluated(2, &times), &second, note_whether_held, &conditional), 7);
  CHECK_EQUAL(conditional.held, EBUSY);
  CHECK_EQUAL(
      relock_execute_if_any_thread(evaluated(1, &times), &second, note_whether_held, &conditional),
      7);
  CHECK_EQUAL(conditional.held, EBUSY);
  CHECK_EQUAL(times, 2);
  relock_mutex_t *none = NULL; /* not looked at */
  CHECK_EQUAL(relock_execute_if(evaluated(0, &times), none, note_whether_held, &conditional), 7);
  CHECK_EQUAL(conditional.held, 0);
  CHECK_EQUAL(
      relock_execute_if_any_thread(evaluated(0, &times), none, note_whether_held, &conditional), 7);
  CHECK_EQUAL(times, 4);
  CHECK_EQUAL(conditional.runs, 4);
  counter = 0;
  check_run_threads(THREADS, ask_on_condition, NULL);
  CHECK_EQUAL(counter, THREADS * ROUNDS);
}

/* --- nesting --------------------------------------------------------------------------------- */

static relock_mutex_t chain[3];
static long chain_counter[3];

static int bump_inner(void *context) {
  long index = (long)(intptr_t)context;
  chain_counter[index]++;
  return (int)index + 10;
}

static int execute_inside(void *context) {
  long index = (long)(intptr_t)context;
  chain_counter[index]++;
  return relock_execute(&chain[index + 1], bump_inner, (void *)(intptr_t)(index + 1));
}

static int hold_inside(void *context) {
  long index = (long)(intptr_t)context;
  chain_counter[index]++;
  CHECK_EQUAL(relock_mutex_lock(&chain[index + 1]), 0);
  chain_counter[index + 1]++;
  CHECK_EQUAL(relock_mutex_unlock(&chain[index + 1]), 0);
  return 5;
}

static void *nest(void *unused) {
  for (int i = 0; i < ROUNDS / 3; i++) {
    /* last in, first out */
    for (int k = 0; k < 3; k++)
      CHECK_EQUAL(relock_mutex_lock(&chain[k]), 0);
    for (int k = 3; k-- > 0;) {
      chain_counter[k]++;
      CHECK_EQUAL(relock_mutex_unlock(&chain[k]), 0);
    }
    /* hand over hand */
    CHECK_EQUAL(relock_mutex_lock(&chain[0]), 0);
    for (int k = 0; k < 3; k++) {
      chain_counter[k]++;
      if (k < 2)
        CHECK_EQUAL(relock_mutex_lock(&chain[k + 1]), 0);
      CHECK_EQUAL(relock_mutex_unlock(&chain[k]), 0);
    }
    /* delegated inside held, held inside delegated, delegated inside delegated */
    CHECK_EQUAL(relock_mutex_lock(&chain[0]), 0);
    chain_counter[0]++;
    CHECK_EQUAL(relock_execute(&chain[1], execute_inside, (void *)1), 12);
    CHECK_EQUAL(relock_mutex_unlock(&chain[0]), 0);
    CHECK_EQUAL(relock_execute(&chain[0], hold_inside, (void *)0), 5);
    CHECK_EQUAL(relock_execute_any_thread(&chain[1], hold_inside, (void *)1), 5);
    CHECK_EQUAL(relock_execute(&chain[0], execute_inside, (void *)0), 11);
  }
  return unused;
}

void nesting_in_any_order(void) {
  for (int k = 0; k < 3; k++)
    CHECK_EQUAL(relock_mutex_init(&chain[k], NULL, k == 1 ? NULL : RELOCK_CLASS(other_lock)), 0);
  check_run_threads(THREADS, nest, NULL);
  long rounds = THREADS * (ROUNDS / 3);
  CHECK_EQUAL(chain_counter[0], rounds * 5);
  CHECK_EQUAL(chain_counter[1], rounds * 6);
  CHECK_EQUAL(chain_counter[2], rounds * 4);
}

/* --- try and timed locks --------------------------------------------------------------------- */

static void *try_from_elsewhere(void *context) {
  relock_mutex_t *mutex = context;
  CHECK_EQUAL(relock_mutex_trylock(mutex), EBUSY);
  clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
  for (int i = 0; i < 2; i++) {
    double start = check_seconds();
    struct timespec deadline = check_deadline(clocks[i], 30);
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), ETIMEDOUT);
    double waited = check_seconds() - start;
    CHECK(waited > 0.028 && waited < 10);
  }
  struct timespec deadline = check_deadline(CLOCK_REALTIME, -1000);
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &deadline), ETIMEDOUT);
  deadline.tv_sec = -5;
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &deadline), ETIMEDOUT);
  deadline.tv_nsec = 1000000000;
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &deadline), EINVAL);
  deadline.tv_nsec = -1;
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline), EINVAL);
  return NULL;
}

static void *lock_within_a_minute(void *context) {
  struct timespec deadline = check_deadline(CLOCK_MONOTONIC, 60000);
  CHECK_EQUAL(relock_mutex_clocklock(context, CLOCK_MONOTONIC, &deadline), 0);
  CHECK_EQUAL(relock_mutex_unlock(context), 0);
  return NULL;
}

void try_and_timed_locks(void) {
  relock_mutex_t mutex = new_mutex(PTHREAD_MUTEX_NORMAL);
  CHECK_EQUAL(relock_mutex_trylock(&mutex), 0);
  check_run_threads(3, try_from_elsewhere, &mutex);
  pthread_t thread = check_start(lock_within_a_minute, &mutex);
  usleep(20000);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  check_join(thread);
  struct timespec past = {0, 0};
  CHECK_EQUAL(relock_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past), EINVAL);
  CHECK_EQUAL(relock_mutex_timedlock(&mutex, &past), 0); /* free: the deadline does not matter */
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
}

static void *unlock(void *context) {
  CHECK_EQUAL(relock_mutex_unlock(context), 0);
  return NULL;
}

void unlock_by_another_thread(void) {
  relock_mutex_t mutex = new_mutex(PTHREAD_MUTEX_NORMAL);
  for (int i = 0; i < 20; i++) {
    CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
    pthread_t thread = check_start(unlock, &mutex);
    CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
    check_join(thread);
    CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  }
}

/* --- types ----------------------------------------------------------------------------------- */

static void *not_the_owner(void *context) {
  relock_mutex_t *mutex = context;
  CHECK_EQUAL(relock_mutex_unlock(mutex), EPERM);
  CHECK_EQUAL(relock_mutex_trylock(mutex), EBUSY);
  struct timespec deadline = check_deadline(CLOCK_REALTIME, 5);
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &deadline), ETIMEDOUT);
  return NULL;
}

void errorcheck_type(void) {
  relock_mutex_t mutex = new_mutex(PTHREAD_MUTEX_ERRORCHECK);
  relock_cond_t cond = RELOCK_COND_INITIALIZER;
  CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);
  CHECK_EQUAL(relock_cond_wait(&cond, &mutex), EPERM);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), EDEADLK);
  CHECK_EQUAL(relock_mutex_trylock(&mutex), EBUSY);
  struct timespec deadline = check_deadline(CLOCK_REALTIME, 1000);
  CHECK_EQUAL(relock_mutex_timedlock(&mutex, &deadline), EDEADLK);
  check_run_threads(1, not_the_owner, &mutex);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);
}

static int lock_own_recursive(void *context) {
  relock_mutex_t *mutex = context;
  CHECK_EQUAL(relock_mutex_lock(mutex), 0);
  counter++;
  CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  return 3;
}

static void *use_recursive(void *context) {
  relock_mutex_t *mutex = context;
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_EQUAL(relock_execute(mutex, lock_own_recursive, mutex), 3);
    CHECK_EQUAL(relock_mutex_lock(mutex), 0);
    CHECK_EQUAL(relock_mutex_trylock(mutex), 0);
    CHECK_EQUAL(relock_execute(mutex, lock_own_recursive, mutex), 3);
    counter++;
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  }
  return NULL;
}

void recursive_type(void) {
  relock_mutex_t mutex = new_mutex(PTHREAD_MUTEX_RECURSIVE);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  struct timespec past = {0, 0};
  CHECK_EQUAL(relock_mutex_timedlock(&mutex, &past), 0);
  check_run_threads(1, not_the_owner, &mutex);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  check_run_threads(1, not_the_owner, &mutex);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);
  counter = 0;
  check_run_threads(THREADS, use_recursive, &mutex);
  CHECK_EQUAL(counter, 3 * THREADS * ROUNDS);
}
