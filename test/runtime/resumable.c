/* SPDX-License-Identifier: MIT
 *
 * Condition variables with resumable sections, beside holders. The conformance client runs each
 * function with every algorithm; mutexes are zero-filled, that is, of the class that it chooses.
 */
#define _GNU_SOURCE
#include "resumable.h"
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* --- one gate that threads wait at, in one way or another ------------------------------------ */

static struct gate {
  relock_mutex_t mutex;
  relock_cond_t opened;
  long waiting, woken, last_woken;
} gate;

/* How a thread waits. */
enum way { HOLDING, RESUMABLE, ANY_THREAD, WAYS };

struct visit {
  struct gate *gate;
  relock_resume_t resume;
  enum way way;
  long number;
  bool timed;
  clockid_t clock;
  struct timespec deadline;
  int result; /* of the wait */
};

static int visit_section(void *context) {
  struct visit *visit = context;
  switch (visit->resume.at) {
  case 0:
    visit->gate->waiting++;
    if (visit->timed)
      RELOCK_COND_CLOCKWAIT(&visit->resume, &visit->gate->opened, visit->clock, &visit->deadline,
                            1);
    else
      RELOCK_COND_WAIT(&visit->resume, &visit->gate->opened, 2);
    visit->result = visit->resume.error;
    visit->gate->woken++;
    visit->gate->last_woken = visit->number;
  }
  return 7;
}

static void visit_holding(struct visit *visit) {
  struct gate *at = visit->gate;
  CHECK_EQUAL(relock_mutex_lock(&at->mutex), 0);
  at->waiting++;
  visit->result =
      visit->timed ? relock_cond_clockwait(&at->opened, &at->mutex, visit->clock, &visit->deadline)
                   : relock_cond_wait(&at->opened, &at->mutex);
  at->woken++;
  at->last_woken = visit->number;
  CHECK_EQUAL(relock_mutex_unlock(&at->mutex), 0);
}

static void *go(void *context) {
  struct visit *visit = context;
  relock_mutex_t *mutex = &visit->gate->mutex;
  if (visit->way == HOLDING)
    visit_holding(visit);
  else if (visit->way == RESUMABLE)
    CHECK_EQUAL(relock_execute_resumable(mutex, visit_section, visit, &visit->resume), 7);
  else
    CHECK_EQUAL(relock_execute_resumable_any_thread(mutex, visit_section, visit, &visit->resume),
                7);
  return NULL;
}

static long look(relock_mutex_t *mutex, const long *value) {
  CHECK_EQUAL(relock_mutex_lock(mutex), 0);
  long result = *value;
  CHECK_EQUAL(relock_mutex_unlock(mutex), 0);
  return result;
}

static void await(relock_mutex_t *mutex, const long *value, long expected) {
  while (look(mutex, value) != expected)
    usleep(100);
}

/* Starts a thread and returns when it waits. */
static pthread_t visit_gate(struct visit *visit) {
  long waiting = look(&visit->gate->mutex, &visit->gate->waiting);
  pthread_t thread = check_start(go, visit);
  await(&visit->gate->mutex, &visit->gate->waiting, waiting + 1);
  return thread;
}

/* --- no wake-up is lost ---------------------------------------------------------------------- */

enum { CAPACITY = 2, ITEMS = 2000, SIDE = 9 };

static struct buffer {
  relock_mutex_t mutex;
  relock_cond_t not_empty, not_full;
  long length, given, sum;
} buffer;

struct transfer {
  relock_resume_t resume;
  struct timespec deadline;
};

static int produce_section(void *context) {
  struct transfer *self = context;
  switch (self->resume.at) {
  case 0:
    while (buffer.length == CAPACITY)
      RELOCK_COND_WAIT(&self->resume, &buffer.not_full, 1);
    buffer.length++;
    CHECK_EQUAL(relock_cond_signal(&buffer.not_empty), 0);
  }
  return 0;
}

/* Its waits end by deadlines now and then. */
static int consume_section(void *context) {
  struct transfer *self = context;
  switch (self->resume.at) {
  case 0:
    while (buffer.length == 0) {
      self->deadline = check_deadline(CLOCK_REALTIME, 1);
      RELOCK_COND_TIMEDWAIT(&self->resume, &buffer.not_empty, &self->deadline, 1);
      CHECK(self->resume.error == 0 || self->resume.error == ETIMEDOUT);
      if (buffer.length == 0)
        RELOCK_COND_WAIT(&self->resume, &buffer.not_empty, 2);
    }
    buffer.length--;
    buffer.sum += ++buffer.given;
  }
  return 3;
}

static void execute(enum way way, relock_section_t section, int result) {
  struct transfer self;
  memset(&self, 0xff, sizeof self); /* needs no initialisation */
  CHECK_EQUAL(
      way == RESUMABLE
          ? relock_execute_resumable(&buffer.mutex, section, &self, &self.resume)
          : relock_execute_resumable_any_thread(&buffer.mutex, section, &self, &self.resume),
      result);
}

static void *produce(void *way) {
  for (int i = 0; i < ITEMS; i++) {
    if ((intptr_t)way != HOLDING) {
      execute((enum way)(intptr_t)way, produce_section, 0);
      continue;
    }
    CHECK_EQUAL(relock_mutex_lock(&buffer.mutex), 0);
    while (buffer.length == CAPACITY)
      CHECK_EQUAL(relock_cond_wait(&buffer.not_full, &buffer.mutex), 0);
    buffer.length++;
    CHECK_EQUAL(relock_mutex_unlock(&buffer.mutex), 0);
    CHECK_EQUAL(relock_cond_signal(&buffer.not_empty), 0); /* without the mutex */
  }
  return NULL;
}

static void *consume(void *way) {
  for (int i = 0; i < ITEMS; i++) {
    if ((intptr_t)way != HOLDING) {
      execute((enum way)(intptr_t)way, consume_section, 3);
    } else {
      CHECK_EQUAL(relock_mutex_lock(&buffer.mutex), 0);
      while (buffer.length == 0)
        CHECK_EQUAL(relock_cond_wait(&buffer.not_empty, &buffer.mutex), 0);
      buffer.length--;
      buffer.sum += ++buffer.given;
      CHECK_EQUAL(relock_mutex_unlock(&buffer.mutex), 0);
    }
    CHECK_EQUAL(relock_cond_signal(&buffer.not_full), 0);
  }
  return NULL;
}

/* Takes all that one thread has to take, in one section, and does its work without the mutex. */
struct worker {
  relock_resume_t resume;
  long left, worked, turns; /* worked: by the caller, without the mutex */
};

static int work_section(void *context) {
  struct worker *self = context;
  switch (self->resume.at) {
  case 0:
    for (; self->left; self->left--) {
      while (buffer.length == 0)
        RELOCK_COND_WAIT(&self->resume, &buffer.not_empty, 3);
      buffer.length--;
      CHECK_EQUAL(relock_cond_signal(&buffer.not_full), 0);
      if (self->left % 2)
        RELOCK_RETURN_TO(&self->resume.at, 1);
      else
        RELOCK_RETURN_TO(&self->resume.at, 2);
      CHECK_EQUAL(self->worked, ++self->turns);
      buffer.sum += ++buffer.given;
    }
  }
  return 0;
}

static void *work(void *way) {
  struct worker self = {.left = ITEMS};
  if ((intptr_t)way == HOLDING)
    return consume(way);
  for (;;) {
    int point =
        (intptr_t)way == RESUMABLE
            ? relock_execute_resumable_from(&buffer.mutex, work_section, &self, &self.resume)
            : relock_execute_resumable_from_any_thread(&buffer.mutex, work_section, &self,
                                                       &self.resume);
    if (!point)
      return NULL;
    CHECK_EQUAL(point, self.left % 2 ? 1 : 2);
    self.worked++;
  }
}

static void fill_and_empty(void *(*empty)(void *)) {
  memset(&buffer, 0, sizeof buffer);
  pthread_t threads[2 * SIDE];
  for (int i = 0; i < 2 * SIDE; i++)
    threads[i] = check_start(i < SIDE ? produce : empty, (void *)(intptr_t)(i % WAYS));
  for (int i = 0; i < 2 * SIDE; i++)
    check_join(threads[i]);
  long total = (long)SIDE * ITEMS;
  CHECK_EQUAL(buffer.length, 0);
  CHECK_EQUAL(buffer.given, total);
  CHECK_EQUAL(buffer.sum, total * (total + 1) / 2);
  CHECK_EQUAL(relock_cond_destroy(&buffer.not_empty), 0);
  CHECK_EQUAL(relock_cond_destroy(&buffer.not_full), 0);
}

void resumable_and_holding_threads_share_a_buffer(void) { fill_and_empty(consume); }

void resumable_sections_return_for_work_and_go_on(void) { fill_and_empty(work); }

/* --- a section with two different waits, in a loop ------------------------------------------- */

enum { PAIRS = 3, TURNS = 1000 };

static struct table {
  relock_mutex_t mutex;
  relock_cond_t turn[2];
  long side; /* whose turn it is */
  long turns;
} table;

static __thread long own_turns;

struct player {
  relock_resume_t resume;
  pthread_t thread;
  long side, taken, own;
};

static void check_identity(const struct player *player) {
  CHECK(pthread_equal(pthread_self(), player->thread));
  CHECK_EQUAL(own_turns, player->own);
}

static int play(void *context) {
  struct player *player = context;
  check_identity(player);
  switch (player->resume.at) {
  case 0:
    for (player->taken = 0; player->taken < TURNS; player->taken++) {
      if (player->side == 0) {
        while (table.side != 0)
          RELOCK_COND_WAIT(&player->resume, &table.turn[0], 1);
        CHECK_EQUAL(table.turns % 2, 0);
      } else {
        while (table.side != 1)
          RELOCK_COND_WAIT(&player->resume, &table.turn[1], 2);
        CHECK_EQUAL(table.turns % 2, 1);
      }
      table.turns++;
      player->own = ++own_turns;
      errno = (int)own_turns;
      table.side = 1 - player->side;
      CHECK_EQUAL(relock_cond_signal(&table.turn[table.side]), 0);
    }
  }
  return 11;
}

static void *play_a_game(void *side) {
  struct player player = {.thread = pthread_self(), .side = (long)(intptr_t)side};
  CHECK_EQUAL(relock_execute_resumable(&table.mutex, play, &player, &player.resume), 11);
  CHECK_EQUAL(own_turns, TURNS);
  CHECK_EQUAL(errno, TURNS);
  return NULL;
}

void resumable_sections_keep_identity_and_place(void) {
  memset(&table, 0, sizeof table);
  pthread_t threads[2 * PAIRS];
  for (int i = 0; i < 2 * PAIRS; i++)
    threads[i] = check_start(play_a_game, (void *)(intptr_t)(i % 2));
  for (int i = 0; i < 2 * PAIRS; i++)
    check_join(threads[i]);
  CHECK_EQUAL(table.turns, 2 * PAIRS * TURNS);
}

/* --- order ----------------------------------------------------------------------------------- */

void waits_end_in_the_order_in_which_they_began(void) {
  enum { WAITERS = 12 };
  struct visit visits[WAITERS];
  pthread_t threads[WAITERS];
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < WAITERS; i++) {
    visits[i] = (struct visit){.gate = &gate, .way = (enum way)(i % WAYS), .number = i};
    threads[i] = visit_gate(&visits[i]);
  }
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), EBUSY);
  for (int i = 0; i < WAITERS; i++) {
    CHECK_EQUAL(look(&gate.mutex, &gate.woken), i);
    CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(threads[i]);
    CHECK_EQUAL(look(&gate.mutex, &gate.last_woken), i);
    if (i == WAITERS / 2)
      usleep(20000); /* time for wakes that nobody asked for */
  }
  CHECK_EQUAL(look(&gate.mutex, &gate.woken), WAITERS);
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
}

/* --- lifetime -------------------------------------------------------------------------------- */

static relock_cond_t *map_condition(void) {
  void *memory =
      mmap(NULL, sizeof(relock_cond_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

/* Whoever still uses it afterwards crashes. */
static void destroy_and_unmap(relock_cond_t *cond) {
  CHECK_EQUAL(relock_cond_destroy(cond), 0);
  CHECK_EQUAL(munmap(cond, sizeof *cond), 0);
}

/* The condition lies in a page of its own, which is gone before its waiters have woken up. */
struct round {
  relock_mutex_t mutex;
  relock_cond_t *opened;
  long waiting, woken;
  struct timespec deadline;
};

struct round_visit {
  relock_resume_t resume;
  struct round *round;
  bool holds;
};

static int wait_in_round(void *context) {
  struct round_visit *visit = context;
  switch (visit->resume.at) {
  case 0:
    visit->round->waiting++;
    RELOCK_COND_CLOCKWAIT(&visit->resume, visit->round->opened, CLOCK_MONOTONIC,
                          &visit->round->deadline, 1);
    visit->round->woken += visit->resume.error == 0;
  }
  return 0;
}

static void *take_part(void *context) {
  struct round_visit *visit = context;
  struct round *round = visit->round;
  if (!visit->holds) {
    relock_execute_resumable(&round->mutex, wait_in_round, visit, &visit->resume);
    return NULL;
  }
  CHECK_EQUAL(relock_mutex_lock(&round->mutex), 0);
  round->waiting++;
  round->woken +=
      relock_cond_clockwait(round->opened, &round->mutex, CLOCK_MONOTONIC, &round->deadline) == 0;
  CHECK_EQUAL(relock_mutex_unlock(&round->mutex), 0);
  return NULL;
}

/* Lets threads wait, broadcasts when all wait and the time has come, and unmaps the condition.
 * Returns how many the broadcast has woken. */
static long play_round(int waiters, struct timespec deadline, double delay) {
  struct round round = {.opened = map_condition(), .deadline = deadline};
  struct round_visit visits[waiters];
  pthread_t threads[waiters];
  for (int i = 0; i < waiters; i++) {
    visits[i] = (struct round_visit){.round = &round, .holds = i % 4 == 0};
    threads[i] = check_start(take_part, &visits[i]);
  }
  await(&round.mutex, &round.waiting, waiters);
  double end = (double)deadline.tv_sec + (double)deadline.tv_nsec * 1e-9 + delay;
  while (check_seconds() < end)
    continue;
  CHECK_EQUAL(relock_cond_broadcast(round.opened), 0);
  destroy_and_unmap(round.opened);
  for (int i = 0; i < waiters; i++)
    check_join(threads[i]);
  return round.woken;
}

void broadcast_ends_all_waits_and_the_condition(void) {
  for (int i = 0; i < 20; i++)
    CHECK_EQUAL(play_round(16, check_deadline(CLOCK_MONOTONIC, 60000), -60), 16);
}

/* Deadlines that pass while the condition is broadcast and destroyed. */
void destroy_waits_for_threads_that_leave(void) {
  for (int i = 0; i < 200; i++)
    play_round(8, check_deadline(CLOCK_MONOTONIC, 2), i % 50 * 4e-6);
}

/* --- time ------------------------------------------------------------------------------------ */

struct timed {
  relock_resume_t resume;
  relock_cond_t *cond;
  bool own_clock;
  clockid_t clock;
  struct timespec deadline;
  int runs, result;
};

static int timed_section(void *context) {
  struct timed *timed = context;
  timed->runs++;
  switch (timed->resume.at) {
  case 0:
    if (timed->own_clock)
      RELOCK_COND_TIMEDWAIT(&timed->resume, timed->cond, &timed->deadline, 1);
    else
      RELOCK_COND_CLOCKWAIT(&timed->resume, timed->cond, timed->clock, &timed->deadline, 2);
    timed->result = timed->resume.error;
  }
  return 5;
}

static int wait_timed(relock_mutex_t *mutex, struct timed *timed) {
  timed->runs = 0;
  CHECK_EQUAL(relock_execute_resumable(mutex, timed_section, timed, &timed->resume), 5);
  CHECK_EQUAL(timed->runs, 2);
  CHECK_EQUAL(timed->resume.at, timed->own_clock ? 1 : 2);
  return timed->result;
}

static void check_timeout(relock_cond_t *cond, clockid_t clock, bool own_clock) {
  relock_mutex_t mutex;
  memset(&mutex, 0, sizeof mutex);
  double start = check_seconds();
  struct timed timed = {
      .cond = cond, .own_clock = own_clock, .clock = clock, .deadline = check_deadline(clock, 30)};
  CHECK_EQUAL(wait_timed(&mutex, &timed), ETIMEDOUT);
  double waited = check_seconds() - start;
  CHECK(waited > 0.028 && waited < 10);
  timed.deadline = (struct timespec){.tv_sec = -1};
  CHECK_EQUAL(wait_timed(&mutex, &timed), ETIMEDOUT);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
}

static relock_cond_t new_condition(clockid_t clock) {
  relock_cond_t cond;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, clock);
  CHECK_EQUAL(relock_cond_init(&cond, &attributes), 0);
  pthread_condattr_destroy(&attributes);
  return cond;
}

void resumable_timed_waits(void) {
  relock_cond_t zero = RELOCK_COND_INITIALIZER, monotonic = new_condition(CLOCK_MONOTONIC);
  check_timeout(&zero, CLOCK_REALTIME, true);
  check_timeout(&zero, CLOCK_MONOTONIC, false);
  check_timeout(&monotonic, CLOCK_MONOTONIC, true);
  check_timeout(&monotonic, CLOCK_REALTIME, false);
  CHECK_EQUAL(relock_cond_destroy(&zero), 0);
  CHECK_EQUAL(relock_cond_destroy(&monotonic), 0);
}

void resumable_waits_that_cannot_begin(void) {
  relock_mutex_t mutex;
  memset(&mutex, 0, sizeof mutex);
  relock_cond_t cond = RELOCK_COND_INITIALIZER;
  struct timed timed = {.cond = &cond, .own_clock = true, .deadline = {0, 1000000000}};
  CHECK_EQUAL(wait_timed(&mutex, &timed), EINVAL);
  timed.deadline.tv_nsec = -1;
  CHECK_EQUAL(wait_timed(&mutex, &timed), EINVAL);
  timed.own_clock = false;
  timed.clock = CLOCK_MONOTONIC;
  CHECK_EQUAL(wait_timed(&mutex, &timed), EINVAL);
  timed.deadline.tv_nsec = 0;
  timed.clock = CLOCK_PROCESS_CPUTIME_ID;
  CHECK_EQUAL(wait_timed(&mutex, &timed), EINVAL);
  timed.clock = -1;
  CHECK_EQUAL(wait_timed(&mutex, &timed), EINVAL);
  CHECK_EQUAL(relock_cond_destroy(&cond), 0);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
}

static void spin_until(const struct timespec *deadline, double more) {
  double end = (double)deadline->tv_sec + (double)deadline->tv_nsec * 1e-9 + more;
  while (check_seconds() < end)
    continue;
}

/* A signal that comes together with the deadline of the thread that waits longest: that thread or
 * the next has it. */
void deadline_of_a_section_does_not_consume_a_signal(void) {
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < 200; i++) {
    struct visit early = {.gate = &gate, .way = RESUMABLE, .timed = true, .clock = CLOCK_MONOTONIC};
    struct visit late = {.gate = &gate, .way = (enum way)(i % WAYS)};
    early.deadline = check_deadline(CLOCK_MONOTONIC, 2);
    pthread_t one = visit_gate(&early), two = visit_gate(&late);
    spin_until(&early.deadline, (i % 40) * 3e-6);
    CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(one);
    CHECK(early.result == 0 || early.result == ETIMEDOUT);
    if (early.result == 0)
      CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(two);
    CHECK_EQUAL(late.result, 0);
  }
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
}

/* --- cancellation ---------------------------------------------------------------------------- */

static void count_and_release(void *context) {
  struct visit *visit = context;
  CHECK(relock_mutex_trylock(&visit->gate->mutex) == EBUSY); /* held */
  visit->result = ECANCELED;
  CHECK_EQUAL(relock_mutex_unlock(&visit->gate->mutex), 0);
}

static void *go_and_be_cancelled(void *context) {
  struct visit *visit = context;
  pthread_cleanup_push(count_and_release, visit);
  go(visit);
  pthread_cleanup_pop(0);
  return NULL;
}

static pthread_t visit_to_be_cancelled(struct visit *visit) {
  long waiting = look(&gate.mutex, &gate.waiting);
  pthread_t thread = check_start(go_and_be_cancelled, visit);
  await(&gate.mutex, &gate.waiting, waiting + 1);
  return thread;
}

void resumable_waits_can_be_cancelled(void) {
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < 20; i++) {
    struct visit visit = {.gate = &gate, .way = i % 2 ? RESUMABLE : ANY_THREAD};
    pthread_t thread = visit_to_be_cancelled(&visit);
    if (i % 4 < 2)
      usleep(2000); /* asleep, or not yet */
    CHECK_EQUAL(pthread_cancel(thread), 0);
    void *result;
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQUAL(visit.result, ECANCELED);
  }
  CHECK_EQUAL(gate.woken, 0);
  CHECK_EQUAL(relock_mutex_destroy(&gate.mutex), 0);
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
}

/* Two threads wait, the first is cancelled and the condition signalled at the same time: whoever
 * was woken, it was not lost. (Whether the first was: the C library may report a thread as
 * cancelled that the request reached on its way out.) */
void cancellation_does_not_consume_a_signal(void) {
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < 300; i++) {
    struct visit one = {.gate = &gate, .way = (enum way)(i % WAYS)};
    struct visit two = {.gate = &gate, .way = RESUMABLE};
    pthread_t first = visit_to_be_cancelled(&one), second = visit_gate(&two);
    if (i % 2)
      CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    CHECK_EQUAL(pthread_cancel(first), 0);
    if (i % 2 == 0)
      CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(first);
    if (one.result != ECANCELED)
      CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(second);
    CHECK_EQUAL(two.result, 0);
  }
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
}

/* --- types ----------------------------------------------------------------------------------- */

static void *try_once(void *context) { return (void *)(intptr_t)relock_mutex_trylock(context); }

static int try_elsewhere(relock_mutex_t *mutex) {
  void *result;
  CHECK_EQUAL(pthread_join(check_start(try_once, mutex), &result), 0);
  return (int)(intptr_t)result;
}

struct owned {
  relock_resume_t resume;
  relock_mutex_t *mutex;
  relock_cond_t *cond;
  struct timespec deadline;
  bool recursive;
};

static int owned_section(void *context) {
  struct owned *owned = context;
  switch (owned->resume.at) {
  case 0:
    CHECK_EQUAL(relock_mutex_lock(owned->mutex), owned->recursive ? 0 : EDEADLK);
    if (owned->recursive)
      CHECK_EQUAL(relock_mutex_unlock(owned->mutex), 0);
    RELOCK_COND_CLOCKWAIT(&owned->resume, owned->cond, CLOCK_MONOTONIC, &owned->deadline, 1);
    CHECK_EQUAL(relock_mutex_trylock(owned->mutex), owned->recursive ? 0 : EBUSY); /* again ours */
    if (owned->recursive)
      CHECK_EQUAL(relock_mutex_unlock(owned->mutex), 0);
  }
  return owned->resume.error;
}

static void *try_until_free(void *context) {
  while (relock_mutex_trylock(context) != 0)
    sched_yield();
  CHECK_EQUAL(relock_mutex_unlock(context), 0);
  return NULL;
}

static void check_type(int type, bool recursive) {
  relock_mutex_t mutex;
  relock_cond_t cond = RELOCK_COND_INITIALIZER;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  CHECK_EQUAL(relock_mutex_init(&mutex, &attributes, NULL), 0);
  struct owned owned = {.mutex = &mutex, .cond = &cond, .recursive = recursive};

  /* Not held before: the wait releases the mutex. */
  owned.deadline = check_deadline(CLOCK_MONOTONIC, 50);
  pthread_t other = check_start(try_until_free, &mutex);
  CHECK_EQUAL(relock_execute_resumable(&mutex, owned_section, &owned, &owned.resume), ETIMEDOUT);
  check_join(other);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);

  if (recursive) { /* held before: it does not, and the caller holds it as often as before */
    CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
    owned.deadline = check_deadline(CLOCK_MONOTONIC, 1);
    CHECK_EQUAL(relock_execute_resumable(&mutex, owned_section, &owned, &owned.resume), ETIMEDOUT);
    CHECK_EQUAL(try_elsewhere(&mutex), EBUSY);
    CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
    CHECK_EQUAL(relock_mutex_unlock(&mutex), EPERM);
  }
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
  CHECK_EQUAL(relock_cond_destroy(&cond), 0);
}

void resumable_sections_of_typed_mutexes(void) {
  check_type(PTHREAD_MUTEX_RECURSIVE, true);
  check_type(PTHREAD_MUTEX_ERRORCHECK, false);
}

/* --- nesting --------------------------------------------------------------------------------- */

static relock_mutex_t outer;

static int visit_inside(void *context) {
  struct visit *visit = context;
  return relock_execute_resumable(&visit->gate->mutex, visit_section, visit, &visit->resume);
}

static void *go_inside(void *visit) {
  CHECK_EQUAL(relock_execute(&outer, visit_inside, visit), 7);
  return NULL;
}

static int nothing(void *context) { return context != NULL; }

static void *use_outer(void *unused) {
  for (int i = 0; i < 100; i++)
    CHECK_EQUAL(relock_execute(&outer, nothing, NULL), 0);
  return unused;
}

/* The wait blocks whoever runs the outer section, but not the signal, which needs the inner mutex
 * only. */
void resumable_section_inside_another_section(void) {
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < 10; i++) {
    struct visit visit = {.gate = &gate};
    pthread_t thread = check_start(go_inside, &visit);
    pthread_t others[2] = {check_start(use_outer, NULL), check_start(use_outer, NULL)};
    await(&gate.mutex, &gate.waiting, i + 1);
    CHECK_EQUAL(look(&gate.mutex, &gate.woken), i);
    CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(thread);
    check_join(others[0]);
    check_join(others[1]);
    CHECK_EQUAL(look(&gate.mutex, &gate.woken), i + 1);
  }
}

/* Sections that wait and sections that do not queue up behind a holder. */
static int count_waiting(void *context) { return (int)*(long *)context; }

static void *look_around(void *unused) {
  for (int i = 0; i < 50; i++)
    relock_execute(&gate.mutex, count_waiting, &gate.waiting);
  return unused;
}

void others_go_on_while_sections_wait(void) {
  enum { WAITERS = 6 };
  struct visit visits[WAITERS];
  pthread_t waiters[WAITERS], others[WAITERS];
  memset(&gate, 0, sizeof gate);
  CHECK_EQUAL(relock_mutex_lock(&gate.mutex), 0);
  for (int i = 0; i < WAITERS; i++) {
    visits[i] = (struct visit){.gate = &gate, .way = i % 2 ? RESUMABLE : ANY_THREAD};
    waiters[i] = check_start(go, &visits[i]);
    others[i] = check_start(look_around, NULL);
  }
  usleep(20000);
  CHECK_EQUAL(relock_mutex_unlock(&gate.mutex), 0);
  for (int i = 0; i < WAITERS; i++)
    check_join(others[i]); /* whoever of them ran a section that waits does not wait itself */
  await(&gate.mutex, &gate.waiting, WAITERS);
  CHECK_EQUAL(look(&gate.mutex, &gate.woken), 0);
  CHECK_EQUAL(relock_cond_broadcast(&gate.opened), 0);
  for (int i = 0; i < WAITERS; i++)
    check_join(waiters[i]);
  CHECK_EQUAL(gate.woken, WAITERS);
}

/* --- fork ------------------------------------------------------------------------------------ */

/* The parent's waiters are not there, whether a signal or a newcomer looks first. */
static void wait_in_child(bool signal_first) {
  if (signal_first)
    CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
  struct timed timed = {.cond = &gate.opened, .clock = CLOCK_MONOTONIC};
  timed.deadline = check_deadline(CLOCK_MONOTONIC, 5);
  CHECK_EQUAL(wait_timed(&gate.mutex, &timed), ETIMEDOUT);
  CHECK_EQUAL(relock_cond_broadcast(&gate.opened), 0);
#ifndef __SANITIZE_THREAD__ /* which cannot start threads in the child of a threaded process */
  gate.waiting = gate.woken = 0;
  struct visit visits[WAYS];
  pthread_t threads[WAYS];
  for (int i = 0; i < WAYS; i++) {
    visits[i] = (struct visit){.gate = &gate, .way = (enum way)i, .number = i};
    threads[i] = visit_gate(&visits[i]);
  }
  for (int i = 0; i < WAYS; i++) {
    CHECK_EQUAL(relock_cond_signal(&gate.opened), 0);
    check_join(threads[i]);
    CHECK_EQUAL(gate.last_woken, i);
  }
#endif
  CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
}

void waiters_of_the_parent_are_not_in_the_child(void) {
  enum { WAITERS = 4 };
  struct visit visits[WAITERS];
  pthread_t threads[WAITERS];
  memset(&gate, 0, sizeof gate);
  for (int i = 0; i < WAITERS; i++) {
    visits[i] = (struct visit){.gate = &gate, .way = (enum way)(i % WAYS), .number = i};
    threads[i] = visit_gate(&visits[i]);
    if (i == 1) {
      CHECK_EQUAL(relock_cond_signal(&gate.opened), 0); /* some on the list, some newcomers */
      check_join(threads[0]);
    }
  }
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(30);
      if (i < 2)
        wait_in_child(i == 0);
      else
        CHECK_EQUAL(relock_cond_destroy(&gate.opened), 0);
      _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
  }
  CHECK_EQUAL(relock_cond_broadcast(&gate.opened), 0);
  for (int i = 1; i < WAITERS; i++)
    check_join(threads[i]);
}
