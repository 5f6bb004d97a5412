/* SPDX-License-Identifier: MIT
 *
 * The one conformance client of all lock algorithms.
 *
 *   conformance ALGORITHM [CASE]
 *
 * runs itself again with RELOCK_LOCKS="*=ALGORITHM", so that zero-filled mutexes and all classes
 * are served by it. Each case is a property; the first that does not hold ends the program with
 * status 1 and a message. A case that hangs is ended by a watchdog.
 */
#define _GNU_SOURCE
#include "check.h"
#include "environment.h"
#include "resumable.h"
#include "semantics.h"

#include <relock/relock.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(relock_mutex_t) == sizeof(pthread_mutex_t), "size");
_Static_assert(_Alignof(relock_mutex_t) == _Alignof(pthread_mutex_t), "alignment");
_Static_assert(sizeof(relock_cond_t) == sizeof(pthread_cond_t), "size");
_Static_assert(_Alignof(relock_cond_t) == _Alignof(pthread_cond_t), "alignment");

RELOCK_LOCK_CLASS(main_lock, "main_lock", "posix");
RELOCK_LOCK_CLASS(other_lock, "other_lock", "mcs");

const char *check_case = "start";
static const char *algorithm;

static relock_mutex_t zero;
static relock_mutex_t first = RELOCK_MUTEX_INITIALIZER(main_lock);
static relock_mutex_t second = RELOCK_MUTEX_INITIALIZER(other_lock);

static pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }

static bool switches_identity(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__x86_64__)
  return getauxval(AT_HWCAP2) & 2;
#else
  return true;
#endif
}

static relock_mutex_t new_mutex(int type) {
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

static void use_before_main(void) { CHECK_EQUAL(early, 2 * EARLY_USES); }

/* --- initialisation -------------------------------------------------------------------------- */

static int count_up(void *context) { return (int)++*(long *)context; }

static void zero_filled_and_static(void) {
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

static void unsupported_attributes(void) {
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

enum { THREADS = 8, ROUNDS = 3000 };
static long counter;
static int inside; /* not atomic: a second thread in the section is a data race as well */

static int guarded(void *context) {
  CHECK(inside == 0);
  inside = 1;
  counter += *(long *)context;
  inside = 0;
  return (int)*(long *)context;
}

static void *mix(void *unused) {
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

static void mutual_exclusion_of_all_ways(void) {
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

static void own_context_and_result_once_per_call(void) {
  counter = 0;
  check_run_threads(THREADS, ask, NULL);
  CHECK_EQUAL(counter, THREADS * ROUNDS);
}

/* --- delegation ------------------------------------------------------------------------------ */

struct whereabouts {
  pid_t asked, ran;
  int runs;
  bool any_thread;
};

static int note_thread(void *context) {
  struct whereabouts *where = context;
  where->ran = kernel_thread();
  where->runs++;
  return 0;
}

static void *ask_where(void *context) {
  struct whereabouts *where = context;
  where->asked = kernel_thread();
  if (where->any_thread)
    relock_execute_any_thread(&first, note_thread, where);
  else
    relock_execute(&first, note_thread, where);
  CHECK_EQUAL(where->runs, 1);
  return NULL;
}

/* How many of four sections that pile up behind a holder another thread runs. */
static int delegated_of_four(bool any_thread) {
  struct whereabouts where[4];
  pthread_t thread[4];
  CHECK_EQUAL(relock_mutex_lock(&first), 0);
  for (int i = 0; i < 4; i++) {
    where[i] = (struct whereabouts){.any_thread = any_thread};
    thread[i] = check_start(ask_where, &where[i]);
  }
  usleep(20000);
  CHECK_EQUAL(relock_mutex_unlock(&first), 0);
  int delegated = 0;
  for (int i = 0; i < 4; i++) {
    check_join(thread[i]);
    delegated += where[i].ran != where[i].asked;
  }
  /* Without a queue only a server runs a section for a client. */
  for (int i = 0; i < 100; i++) {
    struct whereabouts alone = {.any_thread = any_thread};
    ask_where(&alone);
    delegated += alone.ran != alone.asked;
  }
  return delegated;
}

static bool is_delegated(bool any_thread) {
  for (int trial = 0; trial < 50; trial++)
    if (delegated_of_four(any_thread) > 0)
      return true;
  return false;
}

/* Whether the algorithm delegates; found out once, and the last line of the output says it. */
static bool delegates(void) {
  static int known = -1;
  if (known < 0)
    known = is_delegated(true);
  return known;
}

static void sections_are_delegated_with_identity_or_not_at_all(void) {
  CHECK_EQUAL(is_delegated(false), delegates() && switches_identity());
}

static void *delegate_as_new_thread(void *unused) {
  CHECK(!delegates() || is_delegated(true));
  return unused;
}

/* A client whose section another thread runs is cancelled; the section has cancellation points. */
static struct {
  relock_mutex_t mutex, inner;
  relock_cond_t never;
  pthread_t client;
  int cancelled; /* 1: there is a client to cancel; 2: done */
} endangered;

static bool change(int *value, int from, int to) {
  return __atomic_compare_exchange_n(value, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

struct danger {
  pthread_t self;
  pid_t kernel_thread;
  bool elsewhere, completed, returned;
};

static int face_danger(void *context) {
  struct danger *danger = context;
  bool elsewhere = kernel_thread() != danger->kernel_thread;
  int *cancelled = &endangered.cancelled;
  if (elsewhere && __atomic_load_n(cancelled, __ATOMIC_RELAXED) == 0)
    endangered.client = danger->self;
  if (elsewhere && change(cancelled, 0, 1)) {
    danger->elsewhere = true;
    CHECK_EQUAL(relock_mutex_lock(&endangered.inner), 0);
    while (__atomic_load_n(cancelled, __ATOMIC_RELAXED) == 1) {
      struct timespec deadline = check_deadline(CLOCK_MONOTONIC, 1);
      relock_cond_clockwait(&endangered.never, &endangered.inner, CLOCK_MONOTONIC, &deadline);
    }
    CHECK_EQUAL(relock_mutex_unlock(&endangered.inner), 0);
    usleep(1000);
  }
  danger->completed = true;
  return 0;
}

static void *run_into_danger(void *context) {
  struct danger *danger = context;
  danger->self = pthread_self();
  danger->kernel_thread = kernel_thread();
  int times = 0;
  do
    relock_execute(&endangered.mutex, face_danger, danger);
  while (++times < 200 && __atomic_load_n(&endangered.cancelled, __ATOMIC_RELAXED) == 0);
  danger->returned = true;
  pthread_testcancel();
  return NULL;
}

static void *cancel_the_endangered(void *unused) {
  int *cancelled = &endangered.cancelled;
  for (int i = 0; i < 1000 && __atomic_load_n(cancelled, __ATOMIC_RELAXED) == 0; i++)
    usleep(100);
  if (change(cancelled, 0, 2))
    return unused;
  CHECK_EQUAL(pthread_cancel(endangered.client), 0);
  usleep(3000);
  CHECK(change(cancelled, 1, 2));
  return unused;
}

/* Whether there was a client to cancel. */
static bool cancel_a_client(void) {
  enum { CLIENTS = 4 };
  struct danger danger[CLIENTS];
  pthread_t threads[CLIENTS];
  bool seen = false;
  memset(&endangered, 0, sizeof endangered);
  memset(danger, 0, sizeof danger);
  CHECK_EQUAL(relock_mutex_lock(&endangered.mutex), 0);
  for (int i = 0; i < CLIENTS; i++)
    threads[i] = check_start(run_into_danger, &danger[i]);
  usleep(20000);
  pthread_t canceller = check_start(cancel_the_endangered, NULL);
  CHECK_EQUAL(relock_mutex_unlock(&endangered.mutex), 0);
  check_join(canceller);
  for (int i = 0; i < CLIENTS; i++) {
    void *result;
    CHECK_EQUAL(pthread_join(threads[i], &result), 0);
    CHECK(danger[i].completed && danger[i].returned);
    CHECK_EQUAL(result == PTHREAD_CANCELED, danger[i].elsewhere);
    seen = seen || danger[i].elsewhere;
  }
  CHECK_EQUAL(relock_mutex_destroy(&endangered.mutex), 0);
  return seen;
}

static void section_run_by_another_thread_is_not_cancelled(void) {
  bool expected = delegates() && switches_identity(), seen = false;
  for (int trial = 0; trial < (expected ? 50 : 1) && !seen; trial++)
    seen = cancel_a_client();
  CHECK_EQUAL(seen, expected);
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

static void nesting_in_any_order(void) {
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

static void try_and_timed_locks(void) {
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

static void unlock_by_another_thread(void) {
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

static void errorcheck_type(void) {
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

static void recursive_type(void) {
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

/* --- condition variables --------------------------------------------------------------------- */

static struct {
  relock_mutex_t mutex;
  relock_cond_t changed;
  long waiting, woken, tickets;
} gate; /* zero-filled */

static void *pass_gate(void *unused) {
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  gate.waiting++;
  while (gate.tickets == 0)
    CHECK_EQUAL(relock_cond_wait(&gate.changed, &gate.mutex), 0);
  gate.tickets--;
  gate.waiting--;
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  return unused;
}

static void await_waiters(long count) {
  for (bool all = false; !all;) {
    CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
    all = gate.waiting == count;
    CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
    usleep(1000);
  }
}

static int give_ticket(void *context) {
  gate.tickets += *(long *)context;
  CHECK_EQUAL(relock_cond_signal(&gate.changed), 0); /* signals from a section */
  return 0;
}

static void *count_wake(void *unused) {
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  gate.waiting++;
  CHECK_EQUAL(relock_cond_wait(&gate.changed, &gate.mutex), 0);
  gate.woken++;
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  return unused;
}

static void await_woken(long expected) {
  for (long woken = -1; woken < expected; usleep(1000)) {
    CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
    woken = gate.woken;
    CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
    CHECK(woken <= expected);
  }
}

static void signal_and_broadcast(void) {
  pthread_t threads[THREADS];
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < THREADS; i++)
    threads[i] = check_start(pass_gate, NULL);
  await_waiters(THREADS);
  for (long i = THREADS, one = 1; i > 0; i--) {
    relock_execute(&gate.mutex, give_ticket, &one);
    await_waiters(i - 1);
  }
  for (int i = 0; i < THREADS; i++)
    check_join(threads[i]);

  /* A signal wakes exactly one, without a predicate to hide the others; a broadcast all. */
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < THREADS; i++)
    threads[i] = check_start(count_wake, NULL);
  await_waiters(THREADS);
  CHECK_EQUAL(relock_cond_destroy(&gate.changed), EBUSY);
  for (int i = 1; i <= 3; i++) {
    CHECK_EQUAL(relock_cond_signal(&gate.changed), 0);
    await_woken(i);
    usleep(30000); /* time for others that should not wake up */
    await_woken(i);
  }
  CHECK_EQUAL(relock_cond_broadcast(&gate.changed), 0);
  CHECK_EQUAL(relock_cond_destroy(&gate.changed), 0); /* allowed while they wake up */
  for (int i = 0; i < THREADS; i++)
    check_join(threads[i]);
  CHECK_EQUAL(gate.woken, THREADS);
}

enum { CAPACITY = 2, ITEMS = 4000 };
static struct {
  relock_mutex_t mutex;
  relock_cond_t space, items;
  long length, produced, consumed, sum;
} buffer;

static int take_item(void *context) {
  if (buffer.length == 0)
    return 1;
  buffer.length--;
  buffer.sum += ++buffer.consumed;
  *(long *)context = buffer.consumed;
  CHECK_EQUAL(relock_cond_signal(&buffer.space), 0);
  return 0;
}

static void *produce(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    CHECK_EQUAL(relock_mutex_lock(&buffer.mutex), 0);
    while (buffer.length == CAPACITY)
      CHECK_EQUAL(relock_cond_wait(&buffer.space, &buffer.mutex), 0);
    buffer.length++;
    buffer.produced++;
    CHECK_EQUAL(relock_mutex_unlock(&buffer.mutex), 0);
    CHECK_EQUAL(relock_cond_signal(&buffer.items), 0); /* without the mutex */
  }
  return unused;
}

static void *consume(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    long item;
    if (relock_execute(&buffer.mutex, take_item, &item) == 0)
      continue;
    CHECK_EQUAL(relock_mutex_lock(&buffer.mutex), 0);
    while (buffer.length == 0)
      CHECK_EQUAL(relock_cond_wait(&buffer.items, &buffer.mutex), 0);
    CHECK_EQUAL(take_item(&item), 0);
    CHECK_EQUAL(relock_mutex_unlock(&buffer.mutex), 0);
  }
  return unused;
}

static void no_lost_wake_up(void) {
  memset(&buffer, 0, sizeof buffer);
  pthread_t threads[6];
  for (int i = 0; i < 6; i++)
    threads[i] = check_start(i % 2 ? produce : consume, NULL);
  for (int i = 0; i < 6; i++)
    check_join(threads[i]);
  long total = 3 * ITEMS;
  CHECK_EQUAL(buffer.length, 0);
  CHECK_EQUAL(buffer.consumed, total);
  CHECK_EQUAL(buffer.sum, total * (total + 1) / 2);
}

static void check_timeout(relock_cond_t *cond, relock_mutex_t *mutex, clockid_t clock, bool own) {
  double start = check_seconds();
  struct timespec deadline = check_deadline(clock, 30);
  CHECK_EQUAL(own ? relock_cond_timedwait(cond, mutex, &deadline)
                  : relock_cond_clockwait(cond, mutex, clock, &deadline),
              ETIMEDOUT);
  double waited = check_seconds() - start;
  CHECK(waited > 0.028 && waited < 10);
}

static void timed_condition_waits(void) {
  relock_mutex_t mutex = new_mutex(PTHREAD_MUTEX_ERRORCHECK);
  relock_cond_t cond = RELOCK_COND_INITIALIZER, monotonic;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  CHECK_EQUAL(relock_cond_init(&monotonic, &attributes), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  check_timeout(&cond, &mutex, CLOCK_REALTIME, true);
  check_timeout(&cond, &mutex, CLOCK_MONOTONIC, false);
  check_timeout(&monotonic, &mutex, CLOCK_MONOTONIC, true);
  check_timeout(&monotonic, &mutex, CLOCK_REALTIME, false);
  struct timespec wrong = {0, 1000000000};
  CHECK_EQUAL(relock_cond_timedwait(&cond, &mutex, &wrong), EINVAL);
  wrong.tv_nsec = 0;
  CHECK_EQUAL(relock_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &wrong), EINVAL);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0); /* still the owner */
  CHECK_EQUAL(relock_cond_destroy(&cond), 0);
}

/* Deadlines that fall together with signals: each signal ends one wait, early or not at all. */
static long timed_woken, timed_done;

static void *wait_briefly(void *unused) {
  for (int i = 0; i < 500; i++) {
    CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
    gate.waiting++;
    struct timespec deadline = check_deadline(CLOCK_MONOTONIC, i % 2);
    int error = relock_cond_clockwait(&gate.changed, &gate.mutex, CLOCK_MONOTONIC, &deadline);
    CHECK(error == 0 || error == ETIMEDOUT);
    gate.waiting--;
    timed_woken += error == 0;
    CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  }
  __atomic_add_fetch(&timed_done, 1, __ATOMIC_RELAXED);
  return unused;
}

static void deadlines_race_with_signals(void) {
  memset(&gate, 0, sizeof gate);
  pthread_t threads[3];
  long signals = 0;
  for (int i = 0; i < 3; i++)
    threads[i] = check_start(wait_briefly, NULL);
  while (__atomic_load_n(&timed_done, __ATOMIC_RELAXED) < 3) {
    relock_cond_signal(&gate.changed);
    signals++;
    usleep(200);
  }
  for (int i = 0; i < 3; i++)
    check_join(threads[i]);
  CHECK(timed_woken <= signals);
  CHECK(timed_woken > 0);
  CHECK_EQUAL(relock_cond_destroy(&gate.changed), 0);
}

/* A signal that comes together with a deadline is not lost: either the thread that waited longest
 * has it, or the next one. */
static struct timespec first_deadline;
static int first_result, second_result;

static void *wait_first(void *unused) {
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  gate.waiting++;
  first_deadline = check_deadline(CLOCK_MONOTONIC, 1);
  first_result =
      relock_cond_clockwait(&gate.changed, &gate.mutex, CLOCK_MONOTONIC, &first_deadline);
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  return unused;
}

static void *wait_second(void *unused) {
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  while (gate.waiting == 0) {
    CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
    usleep(20);
    CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  }
  gate.waiting++;
  struct timespec deadline = check_deadline(CLOCK_MONOTONIC, 20000);
  second_result = relock_cond_clockwait(&gate.changed, &gate.mutex, CLOCK_MONOTONIC, &deadline);
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  return unused;
}

static void deadline_does_not_consume_a_signal(void) {
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < 400; i++) {
    gate.waiting = 0;
    pthread_t one = check_start(wait_first, NULL), two = check_start(wait_second, NULL);
    for (long waiting = 0; waiting < 2;) {
      CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
      waiting = gate.waiting;
      CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
      usleep(20);
    }
    double end = (double)first_deadline.tv_sec + (double)first_deadline.tv_nsec * 1e-9;
    while (check_seconds() < end + (i % 40) * 3e-6)
      continue;
    CHECK_EQUAL(relock_cond_signal(&gate.changed), 0);
    check_join(one);
    if (first_result == 0) /* the second may be waiting still */
      CHECK_EQUAL(relock_cond_signal(&gate.changed), 0);
    check_join(two);
    CHECK_EQUAL(second_result, 0);
  }
}

static void release_gate(void *cleaned) {
  *(bool *)cleaned = true;
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0); /* held, as POSIX says */
}

static void *wait_to_be_cancelled(void *cleaned) {
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  gate.waiting++;
  pthread_cleanup_push(release_gate, cleaned);
  for (;;)
    relock_cond_wait(&gate.changed, &gate.mutex);
  pthread_cleanup_pop(0);
  return NULL;
}

static void condition_wait_can_be_cancelled(void) {
  memset(&gate, 0, sizeof gate);
  gate.mutex = new_mutex(PTHREAD_MUTEX_ERRORCHECK);
  bool cleaned = false;
  void *result;
  pthread_t thread = check_start(wait_to_be_cancelled, &cleaned);
  await_waiters(1);
  usleep(10000);
  CHECK_EQUAL(pthread_cancel(thread), 0);
  CHECK_EQUAL(pthread_join(thread, &result), 0);
  CHECK(result == PTHREAD_CANCELED && cleaned);
  CHECK_EQUAL(relock_mutex_trylock(&gate.mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  CHECK_EQUAL(relock_cond_destroy(&gate.changed), 0);
}

/* --- thread identity ------------------------------------------------------------------------- */

static __thread long own_variable;
static pthread_key_t own_key;

struct identity {
  pthread_t thread;
  long number;
  char *text;
};

static int use_identity(void *context) {
  struct identity *identity = context;
  CHECK_EQUAL(pthread_equal(pthread_self(), identity->thread), 1);
  CHECK_EQUAL(own_variable, identity->number);
  CHECK_EQUAL((long)(intptr_t)pthread_getspecific(own_key), identity->number);
  CHECK_EQUAL(errno, (int)identity->number);
  own_variable++;
  errno = (int)identity->number + 1;
  char text[64];
  snprintf(text, sizeof text, "%ld", identity->number);
  free(identity->text);
  identity->text = strdup(text);
  errno = (int)identity->number + 1;
  counter++;
  return 0;
}

static void *be_oneself(void *unused) {
  static long numbers;
  struct identity identity = {.thread = pthread_self()};
  long base = 1000 * __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
  for (long i = 0; i < ROUNDS; i++) {
    identity.number = base + i % 100;
    own_variable = identity.number;
    pthread_setspecific(own_key, (void *)(intptr_t)identity.number);
    errno = (int)identity.number;
    relock_execute(i % 2 ? &first : &second, use_identity, &identity);
    CHECK_EQUAL(errno, (int)identity.number + 1);
    CHECK_EQUAL(own_variable, identity.number + 1);
    CHECK_EQUAL(atol(identity.text), identity.number);
  }
  free(identity.text);
  return unused;
}

static void sections_keep_thread_identity(void) {
  CHECK_EQUAL(pthread_key_create(&own_key, NULL), 0);
  /* Two mutexes: the counter would race, were it not for each thread's own. */
  check_run_threads(1, be_oneself, NULL);
  counter = 0;
  for (int i = 0; i < 3; i++)
    check_run_threads(1, be_oneself, NULL);
  CHECK_EQUAL(counter, 3 * ROUNDS);
}

static void *be_oneself_on_one_lock(void *unused) {
  struct identity identity = {.thread = pthread_self()};
  for (long i = 0; i < ROUNDS; i++) {
    identity.number = own_variable = errno = (int)i;
    pthread_setspecific(own_key, (void *)(intptr_t)i);
    relock_execute(&first, use_identity, &identity);
    CHECK_EQUAL(errno, i + 1);
    CHECK_EQUAL(own_variable, i + 1);
    CHECK_EQUAL(atol(identity.text), i);
  }
  free(identity.text);
  return unused;
}

static void contended_sections_keep_thread_identity(void) {
  CHECK_EQUAL(pthread_key_create(&own_key, NULL), 0);
  counter = 0;
  check_run_threads(THREADS, be_oneself_on_one_lock, NULL);
  CHECK_EQUAL(counter, THREADS * ROUNDS);
}

static void *keep_errno(void *unused) {
  long one = 1;
  struct timespec soon;
  for (int i = 0; i < ROUNDS / 3; i++) {
    errno = 77;
    relock_mutex_lock(&first);
    if (i % 50 == 0)
      usleep(200);
    CHECK(i % 50 == 0 || errno == 77);
    relock_mutex_unlock(&first);
    errno = 77;
    relock_execute(&first, guarded, &one);
    soon = check_deadline(CLOCK_REALTIME, 0);
    if (relock_mutex_timedlock(&first, &soon) == 0)
      relock_mutex_unlock(&first);
    CHECK_EQUAL(errno, 77);
  }
  return unused;
}

static void errno_is_not_changed(void) { check_run_threads(THREADS, keep_errno, NULL); }

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

static void threads_come_and_go(void) {
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

static void fork_in_threaded_program(void) {
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

static void last_section_may_free_the_mutex(void) {
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
static void holders_are_not_starved(void) {
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

/* --------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define CASE(function) {#function, function}
    CASE(use_before_main),
    CASE(zero_filled_and_static),
    CASE(unsupported_attributes),
    CASE(mutual_exclusion_of_all_ways),
    CASE(own_context_and_result_once_per_call),
    CASE(sections_are_delegated_with_identity_or_not_at_all),
    CASE(section_run_by_another_thread_is_not_cancelled),
    CASE(nesting_in_any_order),
    CASE(try_and_timed_locks),
    CASE(unlock_by_another_thread),
    CASE(errorcheck_type),
    CASE(recursive_type),
    CASE(error_numbers_of_held_mutexes),
    CASE(error_numbers_while_a_section_runs),
    CASE(recursion_has_an_end),
    CASE(memory_is_reused_for_other_mutexes),
    CASE(unlocking_in_any_order),
    CASE(nesting_deeper_than_request_lines),
    CASE(sections_within_their_own_mutex),
    CASE(contexts_of_all_sizes),
    CASE(statistics_are_exact),
    CASE(signal_and_broadcast),
    CASE(no_lost_wake_up),
    CASE(timed_condition_waits),
    CASE(deadlines_race_with_signals),
    CASE(deadline_does_not_consume_a_signal),
    CASE(condition_wait_can_be_cancelled),
    CASE(resumable_and_holding_threads_share_a_buffer),
    CASE(resumable_sections_return_for_work_and_go_on),
    CASE(resumable_sections_keep_identity_and_place),
    CASE(waits_end_in_the_order_in_which_they_began),
    CASE(broadcast_ends_all_waits_and_the_condition),
    CASE(resumable_timed_waits),
    CASE(resumable_waits_that_cannot_begin),
    CASE(deadline_of_a_section_does_not_consume_a_signal),
    CASE(destroy_waits_for_threads_that_leave),
    CASE(resumable_waits_can_be_cancelled),
    CASE(cancellation_does_not_consume_a_signal),
    CASE(resumable_sections_of_typed_mutexes),
    CASE(resumable_section_inside_another_section),
    CASE(others_go_on_while_sections_wait),
    CASE(waiters_of_the_parent_are_not_in_the_child),
    CASE(sections_keep_thread_identity),
    CASE(contended_sections_keep_thread_identity),
    CASE(errno_is_not_changed),
    CASE(threads_come_and_go),
    CASE(last_section_may_free_the_mutex),
    CASE(holders_are_not_starved),
    CASE(thread_exit_handlers_use_locks),
    CASE(signals_arrive_all_the_time),
    CASE(cancellation_waits_for_its_points),
    CASE(streams_locked_by_the_client),
    CASE(fork_in_every_phase),
    CASE(libraries_come_and_go),
    CASE(ten_thousand_threads),
    CASE(fork_in_threaded_program),
};
enum { CASES = sizeof cases / sizeof *cases };

static void watchdog(int signal) {
  (void)signal;
  static const char text[] = "conformance: no end within the time limit: ";
  if (write(2, text, sizeof text - 1) < 0 || write(2, check_case, strlen(check_case)) < 0 ||
      write(2, "\n", 1) < 0)
    _exit(4);
  _exit(3);
}

/* Why a case is not run under an emulator; null if it is. */
static const char *not_emulated(const char *name) {
  if (!getenv("TEST_EMULATOR"))
    return NULL;
  if (strcmp(name, "fork_in_threaded_program") == 0 || strcmp(name, "fork_in_every_phase") == 0 ||
      strcmp(name, "waiters_of_the_parent_are_not_in_the_child") == 0)
    return "no threads in the child of a threaded process"; /* see check.h */
  return strcmp(name, "ten_thousand_threads") == 0 ? "too slow" : NULL;
}

/* Chooses the algorithm as a user would: by the environment, which is read at start. */
static void restart(char **argv, const char *name) {
  char locks[64];
  snprintf(locks, sizeof locks, "*=%s", name);
  const char *now = getenv("RELOCK_LOCKS");
  if (now && strcmp(now, locks) == 0)
    return;
  setenv("RELOCK_LOCKS", locks, 1);
  if (getenv("TEST_EMULATOR")) { /* the kernel cannot run this program by itself */
    char *shell[] = {"sh",    "-c", "exec $TEST_EMULATOR \"$0\" \"$@\"", argv[0], argv[1],
                     argv[2], NULL};
    execv("/bin/sh", shell);
  }
  execv("/proc/self/exe", argv);
  perror("conformance: cannot restart");
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: conformance ALGORITHM [CASE]\n");
    return 2;
  }
  restart(argv, argv[1]);
  algorithm = argv[1];
  signal(SIGALRM, watchdog);
  int run = 0, left_out = 0;
  for (int i = 0; i < CASES; i++) {
    if (argc == 3 && strcmp(argv[2], cases[i].name) != 0)
      continue;
    const char *reason = not_emulated(cases[i].name);
    if (reason) {
      printf("%-45s not run under the emulator: %s\n", cases[i].name, reason);
      left_out++;
      continue;
    }
    check_case = cases[i].name;
    alarm(getenv("TEST_EMULATOR") ? 240 : 60);
    double start = check_seconds();
    cases[i].run();
    alarm(0);
    printf("%-45s %6.2f s\n", cases[i].name, check_seconds() - start);
    fflush(stdout);
    run++;
  }
  CHECK(run > 0);
  printf("%s: %s%d properties %shold, sections are %s\n", algorithm,
         run + left_out == CASES ? "all " : "", run, left_out ? "that can be emulated " : "",
         delegates() ? "delegated" : "run by their callers");
  return 0;
}
