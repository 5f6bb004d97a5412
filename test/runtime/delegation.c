/* SPDX-License-Identifier: MIT
 *
 * Sections that another thread runs, and the identity that each section keeps all the same. The
 * conformance client runs each function with every algorithm.
 */
#define _GNU_SOURCE
#include "check.h"
#include "conformance.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

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
  __atomic_store_n(&where->asked, kernel_thread(), __ATOMIC_RELAXED);
  if (where->any_thread)
    relock_execute_any_thread(&first, note_thread, where);
  else
    relock_execute(&first, note_thread, where);
  CHECK_EQUAL(where->runs, 1);
  return NULL;
}

static bool is_asleep(const struct whereabouts *where) {
  const pid_t thread = __atomic_load_n(&where->asked, __ATOMIC_RELAXED);
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE *file = thread ? fopen(path, "r") : NULL;
  if (!file)
    return false;
  const bool read = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  fclose(file);
  return read && state == 'S';
}

/* Every wait ends in sleep: whoever sleeps has asked. False: on a busy machine some have not yet.
 */
static bool await_sleep_of_four(const struct whereabouts *where) {
  enum { LOOKS = 1000, EVERY_US = 100 };
  int asleep = 0;
  for (int i = 0; i < LOOKS && asleep < 4; i++) {
    usleep(EVERY_US);
    while (asleep < 4 && is_asleep(&where[asleep]))
      asleep++;
  }
  return asleep == 4;
}

/* How many of four sections that pile up behind a holder another thread runs, and whether all four
 * did pile up. */
static int delegated_of_four(bool any_thread, bool *piled_up) {
  struct whereabouts where[4];
  pthread_t thread[4];
  CHECK_EQUAL(relock_mutex_lock(&first), 0);
  for (int i = 0; i < 4; i++) {
    where[i] = (struct whereabouts){.any_thread = any_thread};
    thread[i] = check_start(ask_where, &where[i]);
  }
  *piled_up = await_sleep_of_four(where);
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

/* The clients of a server that gets no processor withdraw and pile up as holders, so that for an
 * algorithm with a server a trial in which all pile up says nothing against it. */
bool is_delegated(bool any_thread) {
  enum { MOST_TRIALS = 50 };
  const int enough = has_server() ? MOST_TRIALS : 5; /* trials in which all pile up */
  bool piled_up;
  for (int trial = 0, good = 0; trial < MOST_TRIALS && good < enough; trial++, good += piled_up)
    if (delegated_of_four(any_thread, &piled_up) > 0)
      return true;
  return false;
}

bool delegates(void) {
  static int known = -1;
  if (known < 0)
    known = is_delegated(true);
  return known;
}

void sections_are_delegated_with_identity_or_not_at_all(void) {
  CHECK_EQUAL(is_delegated(false), delegates() && switches_identity());
}

void *delegate_as_new_thread(void *unused) {
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

void section_run_by_another_thread_is_not_cancelled(void) {
  bool expected = delegates() && switches_identity(), seen = false;
  for (int trial = 0; trial < (expected ? 50 : 1) && !seen; trial++)
    seen = cancel_a_client();
  CHECK_EQUAL(seen, expected);
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

void sections_keep_thread_identity(void) {
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

void contended_sections_keep_thread_identity(void) {
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

void errno_is_not_changed(void) { check_run_threads(THREADS, keep_errno, NULL); }
