/* SPDX-License-Identifier: MIT
 *
 * fair: combining that shares the mutex by time and not by turns. Who asks with sections of 64
 * microseconds gets as much of the mutex as who asks with sections of one, while both want it. The
 * aim and the name are those of scheduler-cooperative locks (Patel et al., "Avoiding scheduler
 * subversion using scheduler-cooperative locks", 2020) and of usage-fair delegation; the queue and
 * the combiner are those of ccsynch (ccqueue.h), and stand, as all else, in the mutex's annex.
 *
 * Each thread has an account of the time that its sections and holds took under this mutex, read
 * from the cycle counter once per section, by whoever runs it. The *level* is the least account of
 * those present: who waits, or was served not longer than AWAY_US ago. The owner of the word finds
 * it out every SURVEY_US: a look at each account is a line from another processor. Who arrives more
 * than AHEAD_US above the level is held back before it enters the queue, asleep, until
 *
 *  - the level has come up to its account: the owner of the word wakes it, or
 *  - nobody present is below it: then there is nobody to wait for, or
 *  - it has waited for as long as it was ahead, times the threads present. Had they wanted the
 *    mutex for all of that time, they would have caught up.
 *
 * So a thread gets its share and what the others leave; the mutex is idle for at most AWAY_US each
 * time that the others leave it, which AHEAD_US keeps rare. Who was away, or slept, comes back with
 * its account raised to CREDIT_US below the level: it may catch up on that, and no more.
 *
 * A *lease*. Where all others that are present are held back, the one that is left would pay for
 * accounts and a queue of its own with each section, as much as a short section takes. So the one
 * that has just run its own section, and finds it so, opens the word to itself: its next sections
 * take it as on any free mutex, and are counted with the class's sections, which they are anyway.
 * For the time that has passed, but no more, it is charged the mean length of its sections of late
 * for each of them, by whoever ends the lease: the thread itself, which finds the word taken or no
 * longer open, or who was held back, as soon as that estimate has come up to its own account, or
 * no section has been counted between two of its looks.
 *
 * States of a thread, in `asks` of its account, its futex while it is held back:
 *
 *               arrives              ahead of its share
 *   NOT_ASKING --------> ASKING ---------------------------> HELD_BACK
 *       ^    ^            |  ^                                   |
 *       |    `------------'  `-----------------------------------'
 *       |     served, and    ^  by the owner of the word, or the
 *       |     charged        |  thread itself after a deadline
 *       |                    |
 *       `----- LEASED -------'    and charged for its lease. From NOT_ASKING, by itself
 *
 * While one thread alone uses the mutex nothing is counted: `open` (annex.h) is 1, and everybody
 * takes a free word as with any algorithm. The first that finds it taken clears `open`, and the
 * owner of the word sets it when only one has been present for ALONE surveys.
 *
 * Invariants
 *  - Of the accounts, `used` and `last` are written by the thread itself, for a section with what
 *    its line says that it took, so that an account stays in its thread's cache; for a hold by
 *    whoever releases it, and in a crowd by the combiner, see serve(). Threads whose numbers differ
 * by ACCOUNTS share one; then each gets a part of one share, and what both write is lost or not,
 * but never anything else than a time.
 *  - There is always somebody present who is not held back: whoever is at the level.
 *  - A wake-up cannot be lost for long: who is held back sleeps with a deadline.
 *  - What ccqueue.h says of the queue. A client charges its account before it asks again.
 *  - Who takes an account from LEASED, by a compare-and-swap, charges it for the lease.
 *  - No lease begins unseen by who waits: it is begun before its thread leaves the queue, and
 *    ended there if somebody is behind it; whoever is the queue's head closes the word again.
 *
 * Progress and fairness: no thread starves; it is held back for a bounded time, and then first
 * come, first served, but that holders first compete for the word for a while as on adaptive: what
 * one gains by that it pays for with its account. A preempted combiner or holder delays everybody,
 * and pays for it: what is measured is the time under the mutex. A held-back thread delays nobody.
 * Try and timed locks, and what finds the mutex open, are neither held back nor charged, but for
 * a lease.
 * Memory: 4 KiB for each mutex once it was contended, a line of 64 bytes for each waiter.
 */
#include "../base/annex.h"
#include "../base/class.h"
#include "../base/options.h"
#include "../base/word.h"
#include "algorithm.h"
#include "ccqueue.h"
#include "queue.h"
#include "section.h"

#include <limits.h>
#include <time.h>

enum { AHEAD_US = 1000, CREDIT_US = 10000, AWAY_US = 50, SURVEY_US = 10, ALONE = 16 };

/* Sleeps of who is held back: the first, and the longest, between looks whether the others are
 * still there. A longer one where threads outnumber processors: thousands that look take the
 * processor from those who are behind. */
enum { FIRST_SLEEP_US = AWAY_US + 10, LONGEST_SLEEP_US = 1000, LONGEST_IN_CROWD_US = 8000 };

enum { ACCOUNTS = 120, MEMBER_BITS = 64, MOST_FREED = 8, PART_OF_MEAN = 8 };

enum { NOT_ASKING, ASKING, HELD_BACK, LEASED };

struct account {
  _Alignas(32) uint64_t used; /* ticks */
  uint64_t last;              /* when it was served; LEASED: since when */
  uint32_t asks;
  uint32_t length; /* of a section, in the mean of late: ticks */
  uint32_t thread; /* LEASED: the number of the one that it is */
  uint32_t before; /* LEASED: how many sections of the class that thread had then */
};

/* What arrivals write, what they read, and what is the word owner's, on lines of their own. */
struct fair {
  void *unused;   /* the annex's own when it is free */
  uintptr_t tail; /* of the queue */
  uint8_t open;   /* to whom, see queue.h; each arrival has come through arrive() */
  _Alignas(RELOCK_CACHE_LINE) uint64_t level;
  uint64_t members[(ACCOUNTS + MEMBER_BITS - 1) / MEMBER_BITS]; /* accounts to look at */
  _Alignas(RELOCK_CACHE_LINE) uint64_t surveyed;                /* when the level was found out */
  uint32_t alone; /* surveys that found one thread present */
  struct account *holder;
  uint64_t since; /* when its hold began */
  _Alignas(RELOCK_CACHE_LINE) struct account accounts[ACCOUNTS];
};
_Static_assert(sizeof(struct fair) <= RELOCK_ANNEX_SIZE, "fits the annex");

/* --- accounts -------------------------------------------------------------------------------- */

/* Of two times near each other, whose processors' counters may differ. */
static uint64_t from_to(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

static struct account *account_of(struct fair *fair, const struct relock_thread *thread) {
  return &fair->accounts[thread->number % ACCOUNTS];
}

static bool is_present(const struct account *account, uint64_t now, uint64_t away) {
  return relock_load_relaxed(&account->asks) != NOT_ASKING ||
         from_to(relock_load_relaxed(&account->last), now) < away;
}

/* How many sections of the class a thread has run or held. False: it is not counted yet. */
static bool sections_of(const relock_class_t *lock_class, struct relock_thread *thread,
                        uint32_t *sections) {
  const struct relock_counters *counters = relock_counters_of(thread, lock_class->relock_index);
  if (counters)
    *sections = (uint32_t)(relock_load_relaxed(&counters->value[RELOCK_COUNT_EXECUTED]) +
                           relock_load_relaxed(&counters->value[RELOCK_COUNT_HELD]));
  return counters != NULL;
}

/* What a lease has brought its thread until now. */
struct lease {
  uint64_t took;
  uint32_t sections;
};
static struct lease lease_of(const relock_class_t *lock_class, const struct account *account,
                             uint64_t now) {
  struct relock_thread *thread = relock_thread_numbered(relock_load_relaxed(&account->thread));
  const uint64_t passed = from_to(relock_load_relaxed(&account->last), now);
  uint32_t sections = 0;
  sections_of(lock_class, thread, &sections);
  sections -= relock_load_relaxed(&account->before);
  const uint64_t took = (uint64_t)sections * relock_load_relaxed(&account->length);
  return (struct lease){took < passed ? took : passed, sections};
}

struct survey {
  uint64_t level; /* UINT64_MAX: nobody is present */
  unsigned present, held_back;
  struct account *leased; /* null: none */
  struct lease lease;
};

/* By anybody. */
static struct survey survey(struct fair *fair, const relock_class_t *lock_class, uint64_t now) {
  struct survey seen = {UINT64_MAX, 0, 0, NULL, {0, 0}};
  const uint64_t away = relock_batch_ticks(AWAY_US);
  for (unsigned word = 0; word < sizeof fair->members / sizeof *fair->members; word++)
    for (uint64_t left = relock_load_relaxed(&fair->members[word]); left; left &= left - 1) {
      const unsigned bit = (unsigned)__builtin_ctzll(left);
      struct account *account = &fair->accounts[word * MEMBER_BITS + bit];
      /* Acquire: pairs with the release in begin_lease(). */
      const uint32_t asks = relock_load_acquire(&account->asks);
      uint64_t used = relock_load_relaxed(&account->used);
      if (!is_present(account, now, away))
        continue;
      if (asks == LEASED) {
        seen.leased = account;
        seen.lease = lease_of(lock_class, account, now);
        used += seen.lease.took;
      }
      seen.level = used < seen.level ? used : seen.level;
      seen.held_back += asks == HELD_BACK;
      seen.present++;
    }
  return seen;
}

/* Relaxed, as all that is read of accounts: who is missed in one survey is there in the next. */
static void become_member(struct fair *fair, const struct account *account) {
  const unsigned index = (unsigned)(account - fair->accounts);
  uint64_t *members = &fair->members[index / MEMBER_BITS];
  const uint64_t bit = (uint64_t)1 << index % MEMBER_BITS;
  if (!(relock_load_relaxed(members) & bit))
    relock_or_relaxed(members, bit);
}

/* 0: somebody else has charged what it took. */
static void charge(struct account *account, uint64_t took, uint64_t now) {
  if (took) {
    const uint64_t length = relock_load_relaxed(&account->length);
    const uint64_t sum = length ? (PART_OF_MEAN - 1) * length + took : PART_OF_MEAN * took;
    const uint64_t mean = (sum + PART_OF_MEAN / 2) / PART_OF_MEAN;
    relock_store_relaxed(&account->length, (uint32_t)(mean < UINT32_MAX ? mean : UINT32_MAX));
    relock_store_relaxed(&account->used, relock_load_relaxed(&account->used) + took);
  }
  relock_store_relaxed(&account->last, now);
  relock_store_relaxed(&account->asks, NOT_ASKING);
}

/* For those who only look whether it is open. */
static void close_word(relock_mutex_t *mutex) {
  if (relock_load_relaxed(&mutex->relock_private.open))
    relock_store_relaxed(&mutex->relock_private.open, RELOCK_IN_TURN);
}

/* By the thread of the account, which owns the word and has run no section but its own. */
static void begin_lease(relock_mutex_t *mutex, struct account *account, struct relock_thread *self,
                        uint64_t now) {
  uint32_t sections;
  if (!sections_of(relock_class_of(mutex), self, &sections))
    return;
  relock_store_relaxed(&account->thread, self->number);
  relock_store_relaxed(&account->before, sections);
  relock_store_relaxed(&account->last, now);
  /* Release: pairs with the acquire in survey(). */
  relock_store_release(&account->asks, LEASED);
  relock_store_relaxed(&mutex->relock_private.open, RELOCK_OPEN);
}

/* Of an account that was LEASED, and may be no longer; it asks then, or does not. Active: it counts
 * as present. By its thread, or by who has seen the lease in a survey. */
static void end_lease(relock_mutex_t *mutex, struct account *account, uint32_t asks, bool active) {
  const uint64_t now = relock_batch_clock();
  const struct lease lease = lease_of(relock_class_of(mutex), account, now);
  if (!relock_cas_relaxed(&account->asks, LEASED, asks))
    return;
  relock_store_relaxed(&account->used, relock_load_relaxed(&account->used) + lease.took);
  relock_store_relaxed(&account->last, active ? now : 0);
}

/* Those who were held back and whom the level has reached. */
struct freed {
  unsigned count;
  const uint32_t *futex[MOST_FREED];
};

static void free_some(struct fair *fair, struct freed *freed) {
  for (unsigned word = 0; word < sizeof fair->members / sizeof *fair->members; word++)
    for (uint64_t left = relock_load_relaxed(&fair->members[word]); left; left &= left - 1) {
      const unsigned bit = (unsigned)__builtin_ctzll(left);
      struct account *account = &fair->accounts[word * MEMBER_BITS + bit];
      if (relock_load_relaxed(&account->asks) != HELD_BACK ||
          relock_load_relaxed(&account->used) > fair->level || freed->count == MOST_FREED)
        continue;
      if (relock_cas_relaxed(&account->asks, HELD_BACK, ASKING))
        freed->futex[freed->count++] = &account->asks;
    }
}

/* By the owner of the word, before it releases it. Whom to wake then. True: only one that is
 * present is not held back. */
static bool settle(relock_mutex_t *mutex, struct fair *fair, uint64_t now, struct freed *freed) {
  freed->count = 0;
  if (from_to(fair->surveyed, now) < relock_batch_ticks(SURVEY_US))
    return false;
  fair->surveyed = now;
  const struct survey seen = survey(fair, relock_class_of(mutex), now);
  if (seen.present)
    relock_store_relaxed(&fair->level, seen.level);
  if (seen.present > 1) {
    fair->alone = 0;
    free_some(fair, freed);
  } else if (++fair->alone >= ALONE && !relock_load_relaxed(&mutex->relock_private.open)) {
    relock_store_relaxed(&mutex->relock_private.open, RELOCK_OPEN);
  }
  return freed->count == 0 && seen.present > 1 && seen.held_back == seen.present - 1;
}

static void wake(const struct freed *freed) {
  for (unsigned i = 0; i < freed->count; i++)
    relock_os->futex_wake(freed->futex[i], INT_MAX);
}

/* --- who is ahead ---------------------------------------------------------------------------- */

static struct timespec in_us(uint32_t us) {
  const uint64_t ns = relock_os->now_ns() + 1000ull * us;
  return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* How long to sleep before another look: if it is a lease, until that may have come up to `used`.
 */
static uint32_t next_sleep(const struct survey *seen, uint64_t used, uint32_t sleep_us) {
  const uint32_t longest = relock_wait_has_room() ? LONGEST_SLEEP_US : LONGEST_IN_CROWD_US;
  if (seen->leased) {
    const uint64_t left = from_to(seen->level, used) / relock_batch_ticks(1);
    return left < FIRST_SLEEP_US ? FIRST_SLEEP_US : left < longest ? (uint32_t)left : longest;
  }
  return sleep_us < longest / 2 ? 2 * sleep_us : longest;
}

/* Until the others have caught up, are gone, or could have caught up. */
static void hold_back(relock_mutex_t *mutex, struct fair *fair, struct account *account,
                      struct relock_wait *wait) {
  const uint64_t used = relock_load_relaxed(&account->used);
  uint64_t waited = 0; /* in sleeps that lasted until their deadlines */
  uint32_t sleep_us = FIRST_SLEEP_US, sections = UINT32_MAX;
  for (;;) {
    const struct survey seen = survey(fair, relock_class_of(mutex), relock_batch_clock());
    const bool idle = seen.leased && seen.lease.sections == sections;
    sections = seen.leased ? seen.lease.sections : UINT32_MAX;
    if (seen.leased && (idle || seen.level >= used)) {
      close_word(mutex);
      end_lease(mutex, seen.leased, NOT_ASKING, !idle);
      continue;
    }
    if (waited >= from_to(seen.level, used) * seen.present) /* 0 if nobody present is below it */
      break;
    relock_store_relaxed(&account->asks, HELD_BACK);
    const struct timespec deadline = in_us(sleep_us);
    if (relock_wait_park(wait, &account->asks, HELD_BACK, CLOCK_MONOTONIC, &deadline) != 0)
      waited += relock_batch_ticks(sleep_us);
    if (relock_load_relaxed(&account->asks) != HELD_BACK)
      break;
    sleep_us = next_sleep(&seen, used, sleep_us);
  }
  relock_store_relaxed(&account->asks, ASKING);
  close_word(mutex);
}

/* A thread arrives: it is held back if it is ahead of its share. */
static void arrive(relock_mutex_t *mutex, struct fair *fair, struct account *account,
                   struct relock_wait *wait) {
  const uint64_t level = relock_load_relaxed(&fair->level), credit = relock_batch_ticks(CREDIT_US);
  close_word(mutex);
  if (relock_load_relaxed(&account->asks) == LEASED)
    end_lease(mutex, account, ASKING, true);
  relock_store_relaxed(&account->asks, ASKING);
  become_member(fair, account);
  uint64_t used = relock_load_relaxed(&account->used);
  if (used + credit < level) {
    used = level - credit;
    relock_store_relaxed(&account->used, used);
  }
  if (used > level + relock_batch_ticks(AHEAD_US))
    hold_back(mutex, fair, account, wait);
}

/* --- holders --------------------------------------------------------------------------------- */

/* The caller owns the word. From now on it is charged. */
static void begin_hold(relock_mutex_t *mutex, struct fair *fair, struct account *account) {
  fair->holder = account;
  fair->since = relock_batch_clock();
  relock_or_relaxed(&mutex->relock_private.kind, RELOCK_KIND_TELLS);
}

static void fair_release(relock_mutex_t *mutex) {
  struct fair *fair = (struct fair *)relock_load_relaxed(&mutex->relock_private.tail);
  struct freed freed;
  relock_and_relaxed(&mutex->relock_private.kind, (uint8_t)~RELOCK_KIND_TELLS);
  if (!fair) /* a forked child that has forgotten its parent's annex */
    return;
  const uint64_t now = relock_batch_clock();
  charge(fair->holder, from_to(fair->since, now), now);
  settle(mutex, fair, now, &freed);
  wake(&freed);
}

static void fair_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct fair *fair = relock_annex(mutex);
  if (!fair) {
    relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
    relock_wait_end(&wait);
    return;
  }
  struct relock_cc cc = {NULL, NULL};
  struct account *account = account_of(fair, self);
  arrive(mutex, fair, account, &wait);
  wait.spins = relock_wait_spins_among_others();
  if (!relock_queue_compete(&mutex->relock_private.word, &fair->open, &wait)) {
    if (relock_cc_enter(&cc, &fair->tail, self, NULL, &wait) == RELOCK_HEAD) {
      close_word(mutex);
      relock_queue_take(&mutex->relock_private.word, &fair->open, &wait);
      const uint32_t *futex = relock_cc_leave(&cc, &fair->tail, self)
                                  ? relock_queue_grant_head(&fair->open, cc.next)
                                  : NULL;
      if (futex)
        relock_os->futex_wake(futex, 1);
    } else { /* no memory */
      relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
    }
  }
  begin_hold(mutex, fair, account);
  if (cc.own)
    relock_node_give(self, cc.own);
  relock_wait_end(&wait);
}

/* --- sections -------------------------------------------------------------------------------- */

/* The combiner's own section and those behind it, as relock_cc_combine(). What a section took goes
 * into the line of its client, who is told behind that. But where threads outnumber processors a
 * client may not run for long: it would count as present meanwhile, with what it had used before,
 * and those ahead of that would wait. Then it is charged here. Returns the time: *now. */
static int serve(struct relock_cc *cc, struct relock_batch *batch, relock_mutex_t *mutex,
                 struct fair *fair, struct relock_thread *self, const struct relock_call *call,
                 uint64_t *now) {
  const bool clients_run = relock_wait_has_room();
  struct account *served = NULL;
  uint64_t since = relock_batch_clock(), own = 0;
  int result = relock_batch_begin(batch, mutex, self, call);
  struct relock_request *line = cc->next;
  for (;;) {
    struct relock_request *next = relock_cc_next(line, &fair->tail);
    const bool goes_on = next && relock_batch_takes(batch, line);
    *now = goes_on ? batch->now : relock_batch_clock();
    const uint64_t took = from_to(since, *now);
    since = *now;
    if (!batch->last)
      own = took;
    else
      batch->last->took = served ? 0 : took;
    if (served)
      charge(served, took, *now);
    if (!goes_on)
      break;
    __builtin_prefetch(next, 1); /* probably the next request; if not, it is looked at */
    served = clients_run ? NULL : account_of(fair, relock_request_client(line));
    relock_batch_run(batch, line);
    line = next;
  }
  charge(account_of(fair, self), own, *now);
  cc->next = line;
  return result;
}

/* By the head of the queue, which owns the word; afterwards it is neither. */
static int fair_combine(relock_mutex_t *mutex, struct fair *fair, struct relock_cc *cc,
                        struct relock_thread *self, const struct relock_call *call) {
  struct relock_batch batch;
  struct freed freed;
  uint64_t now;
  int result = serve(cc, &batch, mutex, fair, self, call, &now);
  const bool leases = settle(mutex, fair, now, &freed) && !batch.last;
  if (leases)
    begin_lease(mutex, account_of(fair, self), self, now);
  bool more = relock_cc_leave(cc, &fair->tail, self);
  if (leases && more)
    close_word(mutex); /* whoever is behind has the queue's next turn */
  relock_batch_release(&batch, mutex);
  if (more)
    relock_wakes_add(&batch.wakes, relock_queue_grant_head(&fair->open, cc->next));
  wake(&freed);
  relock_batch_end(&batch);
  return result;
}

/* Without a place in the queue, for want of memory: not charged. */
static int run_alone(relock_mutex_t *mutex, struct fair *fair, struct relock_thread *self,
                     const struct relock_call *call) {
  if (fair)
    relock_store_relaxed(&account_of(fair, self)->asks, NOT_ASKING);
  return relock_run_and_release(mutex, self, call->section, call->context);
}

static int fair_execute(relock_mutex_t *mutex, struct relock_thread *self,
                        const struct relock_call *call) {
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  struct fair *fair = relock_annex(mutex);
  struct relock_cc cc = {NULL, NULL};
  uint32_t state = RELOCK_WAITING;
  if (fair) {
    arrive(mutex, fair, account_of(fair, self), &wait);
    state = relock_cc_enter(&cc, &fair->tail, self, call, &wait);
  }
  if (state == RELOCK_HEAD) {
    close_word(mutex);
    relock_queue_take(&mutex->relock_private.word, &fair->open, &wait);
  } else if (state == RELOCK_WAITING)
    relock_word_wait(&mutex->relock_private.word, &wait, CLOCK_MONOTONIC, NULL);
  relock_wait_end(&wait);

  int result;
  if (state == RELOCK_HEAD)
    result = fair_combine(mutex, fair, &cc, self, call);
  else if (state == RELOCK_DONE) {
    charge(account_of(fair, self), cc.own->took, relock_batch_clock());
    result = relock_request_result(cc.own, call);
  } else
    result = run_alone(mutex, fair, self, call);
  if (cc.own)
    relock_node_give(self, cc.own);
  return result;
}

const struct relock_algorithm relock_fair = {.name = "fair",
                                             .lock = fair_lock,
                                             .execute = fair_execute,
                                             .release = fair_release,
                                             .has_annex = true};
