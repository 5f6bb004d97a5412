/* SPDX-License-Identifier: MIT
 *
 * Condition variables with held mutexes: wake-ups, deadlines, cancellation. The conformance client
 * runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "check.h"
#include "conformance.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct gate gate;

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

void signal_and_broadcast(void) {
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

void no_lost_wake_up(void) {
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

void timed_condition_waits(void) {
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

void deadlines_race_with_signals(void) {
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

void deadline_does_not_consume_a_signal(void) {
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

void condition_wait_can_be_cancelled(void) {
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
