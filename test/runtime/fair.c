/* SPDX-License-Identifier: MIT
 *
 * How runtime/locks/fair.c divides a mutex, by a clock that only sections move: the verdict does
 * not depend on how fast the machine is, or for how long it leaves a thread aside. The algorithm is
 * part of this file, and stands in the place of the library's.
 */
#include "../../runtime/base/arch.h"
#include "check.h"

#include <errno.h>
#include <math.h>
#include <time.h>

static uint64_t clock_ns = 1; /* moved by whoever runs under the mutex */
static bool everybody_stays;  /* who was here once counts as present */
static bool deadlines_pass;   /* of those who are held back, at once */
static unsigned passed;       /* such deadlines */

/* Until when those sleep who are held back; 0 from when they have been served. */
enum { SLEEPERS = 16 };
static uint64_t sleepers[SLEEPERS];

static uint64_t time_now(void) { return __atomic_load_n(&clock_ns, __ATOMIC_RELAXED); }

/* Whoever sleeps until a moment that has come gets some real time to look, and to ask. */
static void pass_time(uint64_t ns) {
  const uint64_t now = __atomic_add_fetch(&clock_ns, ns, __ATOMIC_RELAXED);
  bool due = false;
  for (int i = 0; i < SLEEPERS; i++) {
    const uint64_t until = __atomic_load_n(&sleepers[i], __ATOMIC_RELAXED);
    due |= until && until < now;
  }
  if (due)
    usleep(100);
}

#define relock_ticks_early time_now
#define relock_ticks_per_millisecond() 1000000
#include "../../runtime/locks/batch.h"
#undef relock_ticks_early
#undef relock_ticks_per_millisecond

enum { AWAY = 50 };
static uint64_t ticks_of(uint32_t us) {
  return us == AWAY && everybody_stays ? UINT64_MAX / 4 : 1000ull * us;
}

static int park(struct relock_wait *wait, uint32_t *word, uint32_t value, clockid_t clock,
                const struct timespec *deadline) {
  (void)wait, (void)clock;
  if (__atomic_load_n(&deadlines_pass, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
    return ETIMEDOUT;
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t until = time_now() + 1000000000 * (uint64_t)(deadline->tv_sec - now.tv_sec) +
                         (uint64_t)deadline->tv_nsec - (uint64_t)now.tv_nsec;
  uint64_t *sleeper = &sleepers[relock_thread_self()->number % SLEEPERS];
  __atomic_store_n(sleeper, until, __ATOMIC_RELAXED);
  while (__atomic_load_n(word, __ATOMIC_RELAXED) == value && time_now() < until &&
         !__atomic_load_n(&deadlines_pass, __ATOMIC_RELAXED))
    usleep(20);
  return 0;
}

#define relock_batch_ticks ticks_of
#define relock_wait_park park
#include "../../runtime/locks/fair.c"
#undef relock_wait_park
_Static_assert((int)AWAY == (int)AWAY_US, "the same");

const char *check_case = "fair";

static relock_class_t shared_lock = {.name = "shared_lock", .algorithm = "fair"};
static relock_mutex_t mutex;

enum { MOST_THREADS = 8, SHORT_NS = 2000, LONG_NS = 64 * SHORT_NS, END_NS = 400000000 };

struct client {
  uint64_t length, service;
  uint64_t end;
  uint32_t number;
  bool holds;
};

static int section(void *context) {
  struct client *client = context;
  client->service += client->length;
  pass_time(client->length);
  return 0;
}

static void *ask(void *context) {
  struct client *client = context;
  while (time_now() < client->end) {
    if (client->holds) {
      relock_mutex_lock(&mutex);
      section(client);
      relock_mutex_unlock(&mutex);
    } else {
      relock_execute_any_thread(&mutex, section, client);
    }
    __atomic_store_n(&sleepers[relock_thread_self()->number % SLEEPERS], 0, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&deadlines_pass, true, __ATOMIC_RELAXED); /* the others are not to wait for it */
  return NULL;
}

static unsigned asking(void) {
  unsigned count = 0;
  /* Acquire: pairs with the release in relock_annex(). */
  struct fair *fair = (struct fair *)relock_load_acquire(&mutex.relock_private.tail);
  for (unsigned i = 0; fair && i < ACCOUNTS; i++)
    count += relock_load_relaxed(&fair->accounts[i].asks) != NOT_ASKING;
  return count;
}

/* All threads have asked before the first is served. */
static void run(struct client *clients, unsigned count) {
  pthread_t threads[MOST_THREADS];
  __atomic_store_n(&deadlines_pass, false, __ATOMIC_RELAXED);
  relock_mutex_init(&mutex, NULL, &shared_lock);
  relock_mutex_lock(&mutex);
  for (unsigned i = 0; i < count; i++) {
    clients[i].end = time_now() + END_NS;
    threads[i] = check_start(ask, &clients[i]);
  }
  while (asking() < count)
    usleep(100);
  relock_mutex_unlock(&mutex);
  for (unsigned i = 0; i < count; i++)
    check_join(threads[i]);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

static double jain(const struct client *clients, unsigned count) {
  double sum = 0, squares = 0;
  for (unsigned i = 0; i < count; i++) {
    sum += (double)clients[i].service;
    squares += (double)clients[i].service * (double)clients[i].service;
  }
  return sum * sum / (count * squares);
}

static void *ask_once_as(void *context) {
  struct client *client = context;
  client->number = relock_thread_self()->number;
  relock_execute_any_thread(&mutex, section, client);
  return NULL;
}

/* Not the combiner, which is the first of two that wait; the second is behind it by then, or else
 * runs its section itself. */
static void who_asked_is_charged(void) {
  struct client clients[2] = {{.length = 1000}, {.length = 7000}};
  pthread_t threads[2];
  relock_mutex_init(&mutex, NULL, &shared_lock);
  relock_mutex_lock(&mutex);
  for (unsigned i = 0; i < 2; i++) {
    threads[i] = check_start(ask_once_as, &clients[i]);
    while (asking() < i + 1)
      usleep(100);
    usleep(10000);
  }
  relock_mutex_unlock(&mutex);
  for (unsigned i = 0; i < 2; i++)
    check_join(threads[i]);
  struct fair *fair = (struct fair *)relock_load_relaxed(&mutex.relock_private.tail);
  for (unsigned i = 0; i < 2; i++)
    CHECK_EQUAL(fair->accounts[clients[i].number % ACCOUNTS].used, clients[i].length);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

/* Half of them with sections 64 times as long. By turns the index would be 0.52. */
static void is_divided_by_time(unsigned count, bool hold_short, bool hold_long) {
  struct client clients[MOST_THREADS] = {{0}};
  everybody_stays = true;
  for (unsigned i = 0; i < count; i++) {
    clients[i].length = i % 2 ? LONG_NS : SHORT_NS;
    clients[i].holds = i % 2 ? hold_long : hold_short;
  }
  run(clients, count);
  if (jain(clients, count) < 0.99)
    fprintf(stderr, "%u threads, held %d and %d: %.4f\n", count, hold_short, hold_long,
            jain(clients, count));
  CHECK(jain(clients, count) >= 0.99);
}

static struct relock_thread *long_client(struct fair **fair) {
  relock_mutex_init(&mutex, NULL, &shared_lock);
  *fair = relock_annex(&mutex);
  relock_store_relaxed(&mutex.relock_private.open, 0);
  return relock_thread_self();
}

/* An account of somebody else, who was served just now. */
static struct account *other_account(struct fair *fair, const struct relock_thread *self) {
  struct account *other = &fair->accounts[(self->number + 1) % ACCOUNTS];
  become_member(fair, other);
  other->last = time_now();
  return other;
}

static void ask_once(uint64_t length) {
  struct client client = {.length = length};
  relock_execute_any_thread(&mutex, section, &client);
  CHECK(client.service == length);
}

/* Ahead by 10 ms of somebody who is there and does not ask: no longer than that, times two. */
static void waits_no_longer_than_for_its_share(void) {
  struct fair *fair;
  struct relock_thread *self = long_client(&fair);
  everybody_stays = deadlines_pass = true;
  other_account(fair, self);
  ask_once(10000000);
  passed = 0;
  ask_once(1000);
  CHECK(passed > 10 && passed < 40); /* 20 ms, in sleeps of a millisecond after the first ones */
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

static void nobody_waits_for_who_is_gone(void) {
  struct fair *fair;
  struct relock_thread *self = long_client(&fair);
  everybody_stays = false;
  deadlines_pass = true;
  other_account(fair, self);
  passed = 0;
  ask_once(10000000); /* which is longer than the other one counts as present */
  fair->level = 0;    /* as it was while the other one was here */
  ask_once(1000);
  CHECK(passed == 0);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

/* Who comes back after a long time has no claim to all of it. */
static void absence_earns_little(void) {
  struct fair *fair;
  struct relock_thread *self = long_client(&fair);
  everybody_stays = deadlines_pass = true;
  fair->level = 5000000000;
  ask_once(1000);
  const uint64_t used = account_of(fair, self)->used;
  CHECK(used == 5000000000 - 1000ull * CREDIT_US + 1000);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

/* Alone, a thread finds the mutex open again after a while, and then nothing is counted. */
static void opens_for_one_thread(void) {
  struct fair *fair;
  struct relock_thread *self = long_client(&fair);
  everybody_stays = deadlines_pass = false;
  const uint64_t section = relock_batch_ticks(SURVEY_US); /* long enough to be looked at */
  for (int i = 0; i < ALONE; i++) {
    CHECK(!relock_load_relaxed(&mutex.relock_private.open));
    ask_once(section);
  }
  CHECK(relock_load_relaxed(&mutex.relock_private.open));
  const uint64_t used = account_of(fair, self)->used;
  CHECK(used == section * ALONE);
  ask_once(section);
  CHECK(account_of(fair, self)->used == used);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

/* While all others are held back, sections find the mutex open, and are counted until it is closed;
 * no more than the time that has passed. */
static void is_charged_for_a_lease(void) {
  struct fair *fair;
  struct relock_thread *self = long_client(&fair);
  const uint64_t section = relock_batch_ticks(SURVEY_US); /* long enough to be looked at */
  everybody_stays = deadlines_pass = false;
  struct account *own = account_of(fair, self), *other = other_account(fair, self);
  other->used = 1000000000;
  other->asks = HELD_BACK;
  ask_once(section);
  CHECK(own->asks == LEASED && own->used == section);
  CHECK(relock_load_relaxed(&mutex.relock_private.open));
  for (int i = 0; i < 3; i++)
    ask_once(section / 2);
  CHECK(own->asks == LEASED && own->used == section);
  struct survey seen = survey(fair, &shared_lock, time_now());
  CHECK(seen.leased == own && seen.held_back == 1 && seen.lease.sections == 3);
  CHECK(seen.level == section + 3 * section / 2);
  ask_once(section); /* the mean is no less: what it took is known for one in the lease */
  pass_time(10 * section);
  end_lease(&mutex, own, NOT_ASKING, true);
  CHECK(own->asks == NOT_ASKING && own->used == section + 4 * section);
  close_word(&mutex);
  ask_once(section);
  CHECK(own->used == 6 * section);
  CHECK(relock_mutex_destroy(&mutex) == 0);
}

int main(void) {
  alarm(300);
  is_divided_by_time(2, false, false);
  is_divided_by_time(2, true, true);
  is_divided_by_time(8, false, false);
  is_divided_by_time(8, true, true);
  is_divided_by_time(8, true, false);
  is_divided_by_time(8, false, true);
  who_asked_is_charged();
  waits_no_longer_than_for_its_share();
  nobody_waits_for_who_is_gone();
  absence_earns_little();
  opens_for_one_thread();
  is_charged_for_a_lease();
  puts("fair: ok");
  return 0;
}
