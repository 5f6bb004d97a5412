/* SPDX-License-Identifier: MIT
 *
 * Errors of each type and operation, memory that is reused, nesting, contexts that travel, and
 * statistics. The conformance client runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "semantics.h"
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(counted_lock, "counted_lock", "posix");
RELOCK_LOCK_CLASS(reused_lock, "reused_lock", "posix");

static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                            PTHREAD_MUTEX_ERRORCHECK};
enum { TYPES = sizeof types / sizeof *types, THREADS = 6, ROUNDS = 1000 };

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};

static void init(relock_mutex_t *mutex, int type, relock_class_t *lock_class) {
  pthread_mutexattr_t attributes;
  CHECK_EQUAL(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQUAL(pthread_mutexattr_settype(&attributes, type), 0);
  CHECK_EQUAL(relock_mutex_init(mutex, &attributes, lock_class), 0);
  pthread_mutexattr_destroy(&attributes);
}

static int count_up(void *counter) { return (int)++*(long *)counter; }

long run_behind_a_holder(int count, void *(*run)(void *), void *argument, relock_mutex_t *mutex) {
  pthread_t *threads = malloc((size_t)count * sizeof *threads);
  long held = 0;
  for (int joined = 0; joined < count;) {
    CHECK_EQUAL(relock_mutex_lock(mutex), 0);
    for (int i = 0; held == 0 && i < count; i++)
      threads[i] = check_start(run, argument);
    held++;
    usleep(1000);
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
    usleep(100);
    while (joined < count && pthread_tryjoin_np(threads[joined], NULL) == 0)
      joined++;
  }
  free(threads);
  return held;
}

/* --- errors ---------------------------------------------------------------------------------- */

struct busy {
  relock_mutex_t mutex;
  relock_cond_t cond;
  int type;
};

/* What a thread gets from a mutex that is not free and not its own. */
static void *try_all_from_elsewhere(void *context) {
  struct busy *busy = context;
  relock_mutex_t *mutex = &busy->mutex;
  CHECK_EQUAL(relock_mutex_trylock(mutex), EBUSY);
  CHECK_EQUAL(relock_mutex_destroy(mutex), EBUSY);
  if (busy->type != PTHREAD_MUTEX_NORMAL) {
    CHECK_EQUAL(relock_mutex_unlock(mutex), EPERM);
    CHECK_EQUAL(relock_cond_wait(&busy->cond, mutex), EPERM);
  }
  struct timespec deadline = check_deadline(CLOCK_REALTIME, 2);
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &deadline), ETIMEDOUT);
  for (int i = 0; i < 2; i++) {
    deadline = check_deadline(clocks[i], 2);
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), ETIMEDOUT);
    deadline = check_deadline(clocks[i], -1000);
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), ETIMEDOUT);
    deadline = (struct timespec){-1, 0};
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), ETIMEDOUT);
    deadline = (struct timespec){0, 1000000000};
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), EINVAL);
    deadline = (struct timespec){0, -1};
    CHECK_EQUAL(relock_mutex_clocklock(mutex, clocks[i], &deadline), EINVAL);
  }
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_THREAD_CPUTIME_ID, &deadline), EINVAL);
  return NULL;
}

/* What the owner gets: a holder, or a section that runs under the mutex. */
static void try_all_as_owner(struct busy *busy) {
  relock_mutex_t *mutex = &busy->mutex;
  bool recursive = busy->type == PTHREAD_MUTEX_RECURSIVE;
  CHECK_EQUAL(relock_mutex_destroy(mutex), EBUSY);
  CHECK_EQUAL(relock_mutex_trylock(mutex), recursive ? 0 : EBUSY);
  if (busy->type == PTHREAD_MUTEX_NORMAL)
    return; /* would wait for itself */
  struct timespec past = {0, 0}, wrong = {0, -1};
  int error = recursive ? 0 : EDEADLK;
  CHECK_EQUAL(relock_mutex_lock(mutex), error);
  CHECK_EQUAL(relock_mutex_timedlock(mutex, &past), error);
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_REALTIME, &past), error);
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past), error);
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_MONOTONIC, &wrong), error);
  CHECK_EQUAL(relock_mutex_clocklock(mutex, CLOCK_THREAD_CPUTIME_ID, &past), EINVAL);
  for (int i = 0; recursive && i < 6; i++)
    CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
}

void error_numbers_of_held_mutexes(void) {
  for (int i = 0; i < TYPES; i++) {
    struct busy busy = {.cond = RELOCK_COND_INITIALIZER, .type = types[i]};
    init(&busy.mutex, types[i], NULL);
    struct timespec past = {0, 0}, wrong = {0, -1};
    /* Free: the deadline does not matter, valid or not; the clock does. */
    CHECK_EQUAL(relock_mutex_clocklock(&busy.mutex, CLOCK_THREAD_CPUTIME_ID, &past), EINVAL);
    for (int k = 0; k < 2; k++) {
      CHECK_EQUAL(relock_mutex_clocklock(&busy.mutex, clocks[k], &past), 0);
      CHECK_EQUAL(relock_mutex_unlock(&busy.mutex), 0);
      CHECK_EQUAL(relock_mutex_clocklock(&busy.mutex, clocks[k], &wrong), 0);
      CHECK_EQUAL(relock_mutex_unlock(&busy.mutex), 0);
    }
    if (types[i] != PTHREAD_MUTEX_NORMAL) {
      CHECK_EQUAL(relock_mutex_unlock(&busy.mutex), EPERM);
      CHECK_EQUAL(relock_cond_clockwait(&busy.cond, &busy.mutex, CLOCK_MONOTONIC, &past), EPERM);
    }
    CHECK_EQUAL(relock_mutex_trylock(&busy.mutex), 0);
    try_all_as_owner(&busy);
    check_run_threads(3, try_all_from_elsewhere, &busy);
    CHECK_EQUAL(relock_mutex_unlock(&busy.mutex), 0);
    CHECK_EQUAL(relock_mutex_destroy(&busy.mutex), 0);
    if (types[i] != PTHREAD_MUTEX_NORMAL)
      CHECK_EQUAL(relock_mutex_unlock(&busy.mutex), EPERM);
  }
}

/* The client is the owner, whichever thread runs its section. */
enum { NOTHING, ASKED_FOR, ENDED };
static int trial; /* what the section wants of the thread beside */

static int try_within_section(void *context) {
  try_all_as_owner(context);
  __atomic_store_n(&trial, ASKED_FOR, __ATOMIC_RELEASE);
  while (__atomic_load_n(&trial, __ATOMIC_ACQUIRE) == ASKED_FOR)
    usleep(100);
  return 11;
}

static void *execute_trying(void *context) {
  struct busy *busy = context;
  for (int i = 0; i < 2; i++)
    CHECK_EQUAL(relock_execute(&busy->mutex, try_within_section, busy), 11);
  return NULL;
}

static void *try_beside(void *context) {
  for (;;) {
    switch (__atomic_load_n(&trial, __ATOMIC_ACQUIRE)) {
    case ENDED:
      return NULL;
    case ASKED_FOR:
      try_all_from_elsewhere(context);
      __atomic_store_n(&trial, NOTHING, __ATOMIC_RELEASE);
      break;
    default:
      usleep(100);
    }
  }
}

void error_numbers_while_a_section_runs(void) {
  for (int i = 0; i < TYPES; i++) {
    struct busy busy = {.cond = RELOCK_COND_INITIALIZER, .type = types[i]};
    init(&busy.mutex, types[i], NULL);
    trial = NOTHING;
    pthread_t beside = check_start(try_beside, &busy);
    check_run_threads(3, execute_trying, &busy);
    __atomic_store_n(&trial, ENDED, __ATOMIC_RELEASE);
    check_join(beside);
    CHECK_EQUAL(relock_mutex_destroy(&busy.mutex), 0);
  }
}

/* Sets the count of acquisitions, since nobody has the time to reach its limit. */
void recursion_has_an_end(void) {
  relock_mutex_t mutex;
  init(&mutex, PTHREAD_MUTEX_RECURSIVE, NULL);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  mutex.relock_private.recursion = UINT32_MAX;
  struct timespec past = {0, 0};
  CHECK_EQUAL(relock_mutex_lock(&mutex), EAGAIN);
  CHECK_EQUAL(relock_mutex_trylock(&mutex), EAGAIN);
  CHECK_EQUAL(relock_mutex_timedlock(&mutex, &past), EAGAIN);
  CHECK_EQUAL(relock_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past), EAGAIN);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  mutex.relock_private.recursion = 0;
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
}

/* --- memory ---------------------------------------------------------------------------------- */

struct reused {
  relock_mutex_t mutex;
  long value;
};

static void *use_reused(void *context) {
  struct reused *reused = context;
  for (int i = 0; i < 40; i++) {
    if (i % 3 == 0) {
      CHECK_EQUAL(relock_mutex_lock(&reused->mutex), 0);
      reused->value++;
      CHECK_EQUAL(relock_mutex_unlock(&reused->mutex), 0);
    } else {
      relock_execute(&reused->mutex, count_up, &reused->value);
    }
  }
  return NULL;
}

/* Contended mutexes in the same memory: destroyed before, or forgotten; zero-filled, statically
 * initialised or by a call; of every type. */
void memory_is_reused_for_other_mutexes(void) {
  static const relock_mutex_t statically = RELOCK_MUTEX_INITIALIZER(reused_lock);
  struct reused *reused = malloc(sizeof *reused);
  CHECK(reused != NULL);
  memset(reused, 0xa5, sizeof *reused);
  for (int i = 0; i < 150; i++) {
    if (i % 5 == 0)
      memset(&reused->mutex, 0, sizeof reused->mutex);
    else if (i % 5 == 1)
      reused->mutex = statically;
    else
      init(&reused->mutex, types[i % TYPES], i % 2 ? RELOCK_CLASS(reused_lock) : NULL);
    reused->value = 0;
    if (i % 3)
      check_run_threads(4, use_reused, reused);
    else
      run_behind_a_holder(4, use_reused, reused, &reused->mutex);
    CHECK_EQUAL(reused->value, 4 * 40);
    if (i % 4 != 0)
      CHECK_EQUAL(relock_mutex_destroy(&reused->mutex), 0);
  }
  free(reused);
}

/* --- nesting --------------------------------------------------------------------------------- */

enum { DEPTH = 12 };
static struct {
  relock_mutex_t mutex;
  long value;
} level[DEPTH];

static void *unlock_in_any_order(void *unused) {
  static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < 4; k++) {
      CHECK_EQUAL(relock_mutex_lock(&level[k].mutex), 0);
      level[k].value++;
    }
    for (int k = 0; k < 4; k++)
      CHECK_EQUAL(relock_mutex_unlock(&level[orders[i % 4][k]].mutex), 0);
  }
  return unused;
}

void unlocking_in_any_order(void) {
  memset(level, 0, sizeof level);
  check_run_threads(THREADS, unlock_in_any_order, NULL);
  for (int k = 0; k < 4; k++)
    CHECK_EQUAL(level[k].value, THREADS * ROUNDS);
}

/* Each section executes the next one, or holds: more waits within waits than a thread has request
 * lines. */
static int descend(void *context) {
  long at = (long)(intptr_t)context;
  level[at].value++;
  if (at + 1 == DEPTH)
    return (int)at;
  void *next = (void *)(intptr_t)(at + 1);
  if (at % 4 != 3)
    return relock_execute(&level[at + 1].mutex, descend, next);
  CHECK_EQUAL(relock_mutex_lock(&level[at + 1].mutex), 0);
  int result = descend(next);
  CHECK_EQUAL(relock_mutex_unlock(&level[at + 1].mutex), 0);
  return result;
}

static void *descend_often(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    long start = (i + (long)(intptr_t)number) % 3;
    CHECK_EQUAL(relock_execute(&level[start].mutex, descend, (void *)start), DEPTH - 1);
  }
  return NULL;
}

void nesting_deeper_than_request_lines(void) {
  memset(level, 0, sizeof level);
  pthread_t thread[THREADS];
  for (long i = 0; i < THREADS; i++)
    thread[i] = check_start(descend_often, (void *)i);
  for (int i = 0; i < THREADS; i++)
    check_join(thread[i]);
  for (int k = 2; k < DEPTH; k++)
    CHECK_EQUAL(level[k].value, THREADS * ROUNDS);
}

/* Sections of a recursive mutex that execute and hold under it again, three deep. */
struct own {
  relock_mutex_t mutex;
  long value;
};

static __thread int depth_of_own;

static int execute_within(void *context) {
  struct own *own = context;
  own->value++;
  if (++depth_of_own < 4) {
    CHECK_EQUAL(relock_mutex_lock(&own->mutex), 0);
    CHECK_EQUAL(relock_execute(&own->mutex, execute_within, own), 5);
    CHECK_EQUAL(relock_mutex_unlock(&own->mutex), 0);
    long number = depth_of_own;
    CHECK_EQUAL(relock_execute_copy(&own->mutex, count_up, &number, sizeof number),
                depth_of_own + 1);
    CHECK_EQUAL(number, depth_of_own + 1);
  }
  depth_of_own--;
  return 5;
}

static void *use_own(void *own) {
  for (int i = 0; i < ROUNDS; i++)
    CHECK_EQUAL(relock_execute(&((struct own *)own)->mutex, execute_within, own), 5);
  return NULL;
}

void sections_within_their_own_mutex(void) {
  struct own own = {.value = 0};
  init(&own.mutex, PTHREAD_MUTEX_RECURSIVE, NULL);
  run_behind_a_holder(THREADS, use_own, &own, &own.mutex);
  CHECK_EQUAL(own.value, THREADS * ROUNDS * 4);
  CHECK_EQUAL(relock_mutex_destroy(&own.mutex), 0);
}

/* --- contexts -------------------------------------------------------------------------------- */

enum { LARGEST = 100 };
static relock_mutex_t copy_mutex;

/* The first byte is the size; all others are turned round. */
static int invert(void *context) {
  unsigned char *bytes = context;
  for (int i = 1; i < bytes[0]; i++)
    bytes[i] = (unsigned char)~bytes[i];
  return bytes[0] * 7;
}

static void *send_copies(void *unused) {
  for (int round = 0; round < 40; round++)
    for (int size = 1; size <= LARGEST; size++) {
      unsigned char bytes[LARGEST + 1];
      for (int i = 0; i <= LARGEST; i++)
        bytes[i] = (unsigned char)(i * 31 + round);
      bytes[0] = (unsigned char)size;
      int result = round % 2
                       ? relock_execute_copy(&copy_mutex, invert, bytes, (size_t)size)
                       : relock_execute_copy_any_thread(&copy_mutex, invert, bytes, (size_t)size);
      CHECK_EQUAL(result, size * 7);
      for (int i = 1; i <= LARGEST; i++) {
        unsigned char sent = (unsigned char)(i * 31 + round);
        CHECK_EQUAL(bytes[i], i < size ? (unsigned char)~sent : sent);
      }
    }
  return unused;
}

struct aligned {
  _Alignas(8) uint64_t number;
  void *self;
  double real;
};
_Static_assert(sizeof(struct aligned) <= RELOCK_COPY_MAX, "travels");

static int use_aligned(void *context) {
  struct aligned *aligned = context;
  CHECK_EQUAL((uintptr_t)aligned % 8, 0);
  aligned->number++;
  aligned->real *= 2;
  return aligned->self == context; /* only if it did not travel */
}

static void *send_aligned(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    struct aligned aligned = {(uint64_t)i, NULL, i};
    aligned.self = &aligned;
    relock_execute_copy(&copy_mutex, use_aligned, &aligned, sizeof aligned);
    CHECK_EQUAL(aligned.number, i + 1);
    CHECK(aligned.real == 2.0 * i && aligned.self == &aligned);
  }
  return unused;
}

void contexts_of_all_sizes(void) {
  run_behind_a_holder(THREADS, send_copies, NULL, &copy_mutex);
  run_behind_a_holder(THREADS, send_aligned, NULL, &copy_mutex);
}

/* --- statistics ------------------------------------------------------------------------------ */

static relock_mutex_t counted = RELOCK_MUTEX_INITIALIZER(counted_lock);
static long elsewhere; /* sections that another thread ran; under the mutex */

static int note_where(void *asked) {
  elsewhere += *(long *)asked != (long)syscall(SYS_gettid);
  return 0;
}

static void *use_counted(void *unused) {
  long self = (long)syscall(SYS_gettid);
  for (int i = 0; i < ROUNDS; i++) {
    struct timespec deadline = check_deadline(CLOCK_MONOTONIC, 60000);
    relock_execute(&counted, note_where, &self);
    relock_execute_any_thread(&counted, note_where, &self);
    relock_execute_copy(&counted, note_where, &self, sizeof self);
    CHECK_EQUAL(relock_mutex_lock(&counted), 0);
    CHECK_EQUAL(relock_mutex_unlock(&counted), 0);
    CHECK_EQUAL(relock_mutex_clocklock(&counted, CLOCK_MONOTONIC, &deadline), 0);
    CHECK_EQUAL(relock_mutex_trylock(&counted), EBUSY);
    CHECK_EQUAL(relock_mutex_unlock(&counted), 0);
  }
  return unused;
}

static void hold_counted(relock_statistics_t *before, relock_statistics_t *after, int type) {
  relock_mutex_t mutex;
  relock_class_statistics(RELOCK_CLASS(counted_lock), before);
  init(&mutex, type, RELOCK_CLASS(counted_lock));
  CHECK_EQUAL(relock_mutex_trylock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
  relock_class_statistics(RELOCK_CLASS(counted_lock), after);
  CHECK_EQUAL(after->mutexes - before->mutexes, 1);
  CHECK_EQUAL(after->held - before->held, 1);
  CHECK_EQUAL(after->executed - before->executed, 0);
  CHECK_EQUAL(after->contended - before->contended, 0);
}

void statistics_are_exact(void) {
  relock_statistics_t before, after;
  for (int i = 0; i < TYPES; i++)
    hold_counted(&before, &after, types[i]);
  CHECK(strstr(relock_algorithms(), after.algorithm) != NULL);

  before = after;
  elsewhere = 0;
  long held = run_behind_a_holder(THREADS, use_counted, NULL, &counted);
  relock_class_statistics(RELOCK_CLASS(counted_lock), &after);
  CHECK_EQUAL(after.held - before.held, 2 * THREADS * ROUNDS + held);
  CHECK_EQUAL(after.executed - before.executed, 3 * THREADS * ROUNDS);
  CHECK_EQUAL(after.delegated - before.delegated, elsewhere);
  CHECK((after.batches > before.batches) == (elsewhere > 0));
  CHECK(after.batches - before.batches <= (uint64_t)elsewhere);
  CHECK(after.parked - before.parked <= after.contended - before.contended);
  CHECK(after.contended - before.contended <= 5 * THREADS * ROUNDS + (uint64_t)held);

  bool listed = false;
  for (relock_class_t *c = relock_class_next(NULL); c; c = relock_class_next(c))
    listed |= c == RELOCK_CLASS(counted_lock);
  CHECK(listed);
}
