/* SPDX-License-Identifier: MIT
 *
 * rcl: remote core locking (Lozi, David, Thomas, Lawall and Muller, 2012; Lozi's thesis, 2014,
 * chapter 4). The threads of a server run the sections of the classes that are given to it; clients
 * post requests in an array with one cache line for each. README.md explains the protocol.
 *
 * This is the clients' side. A client spins on its own slot as long as the server gets on with
 * other requests, for two passes at most, offers its processor a few times, and then wants the
 * request back. If no thread of the server is at it, it has it, and runs the section under the word
 * as a holder does; else it sleeps until it is served. So a server that is not scheduled, or is
 * blocked in another section, delays its clients and stops none.
 *
 * Progress and fairness: requests are served in the array's order; each other client precedes one
 * at most once, and the one that was served last once more for every eight slots. Memory: 128 bytes
 * for each client and server. A client spins on its own slot. A preempted server costs its clients
 * a bounded wait each; they then work without it for a while.
 */
#include "client.h"

#include "../base/guard.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/request.h"
#include "../base/stack.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../locks/algorithm.h"
#include "../locks/queue.h"
#include "../locks/section.h"
#include "lone.h"
#include "manners.h"
#include "server.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* How often a client whose spin is over offers its processor to the server. A guess. */
enum { YIELDS = 4 };

/* After each request in a row that it had to withdraw, or that was served only when it yielded its
 * processor, a client runs 1, 3, 7, ... sections without asking the server: where there is no
 * processor for the server, delegation costs a context switch per section. One vain request takes
 * about as long as this many sections. */
enum { MAX_PENALTY = 255 };

/* Sections that a thread for which there is no slot runs before it looks for one again. */
enum { SLOTLESS = 1000 };

/* --- clients' numbers ------------------------------------------------------------------------ */

uint32_t relock_slots_end, relock_clients;

/* Guarded by RELOCK_GUARD_CLIENTS: a number is given to one thread at a time, the least that is
 * free, and every number below relock_slots_end, the highest is not. So the servers' passes are as
 * short as the live clients allow (adaptive long-lived renaming, without the wait-freedom). */
static uint8_t number_taken[RELOCK_SLOTS];

/* Sequentially consistent: pairs with has_request(), servicing.c, as the post that follows does; a
 * server that goes to sleep would not look at a new client's slot. Release: pairs with the acquire
 * in serve_all(). */
static void set_end(uint32_t end) { (void)relock_exchange_seq_cst(&relock_slots_end, end); }

/* A number from 1 on; 0: there is none. */
static uint32_t take_number(void) {
  relock_guard_take(RELOCK_GUARD_CLIENTS);
  uint32_t i = 0;
  while (i < relock_tuning.server_slots && number_taken[i])
    i++;
  bool found = i < relock_tuning.server_slots;
  if (found) {
    number_taken[i] = 1;
    relock_count_own(&relock_clients, 1);
    if (relock_slots_end <= i)
      set_end(i + 1);
  }
  relock_guard_release(RELOCK_GUARD_CLIENTS);
  return found ? i + 1 : 0;
}

void relock_client_ends(struct relock_thread *record) {
  if (!record->rcl_number)
    return;
  relock_manners_end(record);
  relock_guard_take(RELOCK_GUARD_CLIENTS);
  number_taken[record->rcl_number - 1] = 0;
  relock_count_own(&relock_clients, -1);
  uint32_t end = relock_slots_end;
  while (end > 0 && !number_taken[end - 1])
    end--;
  if (end != relock_slots_end)
    set_end(end);
  relock_guard_release(RELOCK_GUARD_CLIENTS);
  record->rcl_number = 0;
}

/* --- a request ------------------------------------------------------------------------------- */

/* Starts the server if it has no thread. */
static bool is_running(struct relock_server *server) {
  /* Acquire: pairs with the releases in relock_servicing_thread() and relock_pool_retire(). */
  uint32_t state = relock_load_acquire(&server->state);
  if (RELOCK_LIKELY(state == RELOCK_SERVER_RUNNING))
    return true;
  if (state != RELOCK_SERVER_NONE ||
      !relock_cas_acquire(&server->state, RELOCK_SERVER_NONE, RELOCK_SERVER_STARTING))
    return false;
  relock_store_relaxed(&server->stack, relock_default_stack_size());
  bool may_start = relock_server_may_start(server);
  if (may_start && relock_pool_start(server))
    return false; /* the next request finds it */
  if (may_start)
    relock_say("server %u: cannot start a thread; its lock classes are combined instead (algorithm "
               "adaptive) [server-refused]",
               server->number + 1);
  /* Release: pairs with the acquire above. */
  relock_store_release(&server->state, RELOCK_SERVER_REFUSED);
  return false;
}

/* The calling thread's slot if it can post a request now, else null. */
static struct relock_request *free_slot(struct relock_server *server, struct relock_thread *self) {
  if (RELOCK_UNLIKELY(!is_running(server)) || relock_has_submitted(self, server->number))
    return NULL;
  if (RELOCK_UNLIKELY(self->rcl_skip > 0)) {
    self->rcl_skip--;
    return NULL;
  }
  if (RELOCK_UNLIKELY(!self->rcl_number)) {
    self->rcl_number = take_number();
    if (!self->rcl_number) {
      self->rcl_skip = SLOTLESS;
      return NULL;
    }
    relock_manners_start(self);
  }
  /* A thread of this server, or a client whose section this server runs: nested requests would
   * wait for whoever makes them. */
  struct relock_request *slot = server->slots[self->rcl_number - 1];
  bool nested = self->rcl_serves == server ||
                (self->rcl_asks > 0 && relock_slot_is_pending(relock_load_relaxed(&slot->state)));
  return nested || self->stack > relock_load_relaxed(&server->stack) ? NULL : slot;
}

enum outcome { SERVED, SERVED_LATE, WITHDRAWN };

/* Wants the request back. If a thread of the server is at it, sleeps until it has been run or
 * refused. Like all that a client does from its post on, this touches no thread-local variable: the
 * section may be running with its identity. */
static enum outcome rcl_leave(struct relock_server *server, struct relock_request *slot,
                              struct relock_wait *wait) {
  uint32_t number = (uint32_t)((slot - *server->slots) / 2);
  /* Sequentially consistent: pairs with announce(), which comes before the server looks at the
   * state. */
  if (!relock_cas_seq_cst(&slot->state, RELOCK_SLOT_POSTED, RELOCK_SLOT_LEAVING))
    return SERVED_LATE; /* it is DONE */
  relock_await_announcements();
  bool sleeps = false;
  enum outcome outcome;
  for (;;) {
    /* Acquire: pairs with the release in run() and the compare-and-swap in look_again(). */
    uint32_t state = relock_load_acquire(&slot->state);
    outcome = state == RELOCK_SLOT_DONE ? SERVED_LATE : WITHDRAWN;
    if (state != RELOCK_SLOT_LEAVING)
      break;
    if (!relock_is_announced(server, number)) {
      /* It was run before that look, or is the client's. */
      outcome = relock_load_acquire(&slot->state) == RELOCK_SLOT_DONE ? SERVED_LATE : WITHDRAWN;
      break;
    }
    if (!sleeps) {
      sleeps = true;
      /* Comes before the count, which is a release. Sequentially consistent: pairs with announce(),
       * which is followed by a look at it. */
      relock_store_relaxed(&server->client_sleeps[number], 1);
      relock_add_seq_cst(&server->unusual, 1);
      relock_await_announcements();
      relock_pool_report(server);
      continue;
    }
    relock_wait_park(wait, &slot->state, RELOCK_SLOT_LEAVING, CLOCK_MONOTONIC, NULL);
  }
  if (sleeps) {
    relock_store_relaxed(&server->client_sleeps[number], 0);
    relock_add_relaxed(&server->unusual, (uint32_t)-1);
  }
  if (outcome == WITHDRAWN)
    relock_store_relaxed(&slot->state, RELOCK_SLOT_FREE);
  return outcome;
}

static struct relock_progress observe(const struct relock_server *server) {
  return (struct relock_progress){relock_load_relaxed(&server->progress.passes),
                                  relock_load_relaxed(&server->progress.served)};
}

/* The load pairs, in the total order, with sleep_until_posted(), servicing.c; of several threads
 * one wakes the server. */
void relock_server_wake(struct relock_server *server) {
  if (relock_load_seq_cst(&server->asleep) && relock_exchange_seq_cst(&server->asleep, 0))
    relock_os->futex_wake(&server->asleep, /* with the backup */
                          relock_load_relaxed(&server->realtime) ? INT32_MAX : 1);
}

/* How often a client spins in vain before it withdraws. Those that withdraw hand the lock on to
 * each other, so that the server finds it busy, and stands still whenever it wakes one of them:
 * then the others withdraw as well. With 47 clients and more that never ended, at a sixth of the
 * throughput (runtime/doc/simulated.md). So where there are processors for it they are as patient
 * as it takes for all others to have had the lock, each for as long as anybody spins. */
static uint32_t patience(void) {
  return relock_wait_is_crowded() ? 1 : relock_load_relaxed(&relock_slots_end);
}

/* Waits for the section to be run: spins on as long as the server serves others meanwhile, unless
 * it has come by twice and found the lock busy. A server that stands still is blocked in a section
 * or not scheduled: it is offered the processor a few times, and then the request is withdrawn. */
static enum outcome await_server(struct relock_server *server, struct relock_request *slot,
                                 struct relock_wait *wait) {
  struct relock_progress start = {0, 0}, last = {0, 0};
  uint32_t vain = 0;
  unsigned yields = YIELDS;
  bool watched = false, late = false;
  wait->spins = relock_wait_spins_in_queue(); /* each look at the server takes a line from it */
  for (;;) {
    /* Acquire: pairs with the release in run(). */
    if (relock_load_acquire(&slot->state) == RELOCK_SLOT_DONE)
      return late ? SERVED_LATE : SERVED;
    if (wait->spins == 0 && !late) {
      struct relock_progress now = observe(server);
      if (!watched) {
        start = now;
        /* The post and a server that goes to sleep may have missed each other. Pairs with
         * sleep_until_posted(), servicing.c. */
        if (relock_cas_seq_cst(&slot->state, RELOCK_SLOT_POSTED, RELOCK_SLOT_POSTED))
          relock_server_wake(server);
      }
      vain += watched && (now.served == last.served || now.passes - start.passes >= 2);
      late = vain > 0 && vain >= patience();
      last = now;
      watched = true;
      wait->spins = late ? 0 : relock_wait_spins_in_queue();
    }
    if (relock_wait_again(wait))
      continue;
    if (yields-- == 0)
      break;
    relock_os->yield();
  }
  enum outcome outcome = rcl_leave(server, slot, wait);
  if (outcome == WITHDRAWN && observe(server).served == start.served)
    relock_pool_report(server);
  return outcome;
}

/* Decides how soon to ask the server again. */
static void learn(struct relock_thread *self, enum outcome outcome) {
  if (outcome == SERVED)
    self->rcl_penalty /= 2;
  else if (self->rcl_penalty < MAX_PENALTY)
    self->rcl_penalty = 2 * self->rcl_penalty + 1;
  self->rcl_skip = self->rcl_penalty;
}

/* Whether other clients may run a section of the class where no server does: not on rcl, where a
 * section may wait for the next one of another client. */
static bool may_combine(const relock_mutex_t *mutex) {
  return !relock_load_relaxed(&relock_class_of(mutex)->relock_ops)->always_delegates;
}

/* The client runs the section itself; or together with others that do, where it can: were each of
 * them a holder, the server would find the lock busy for as long as there are some. One that may
 * take a share of its server only is a holder, as its time is its own. */
static int run_here(relock_mutex_t *mutex, const struct relock_server *server,
                    struct relock_thread *self, const struct relock_call *call) {
  if (relock_load_relaxed(&server->state) == RELOCK_SERVER_REFUSED)
    return relock_adaptive.execute(mutex, self, call);
  const bool at_once = relock_queue_try(mutex);
  if (!at_once && !self->rcl_share && may_combine(mutex))
    return relock_adaptive.execute(mutex, self, call);
  if (!at_once)
    relock_adaptive.lock(mutex, self);
  const uint64_t start = self->rcl_share ? relock_os->now_ns() : 0;
  int result = relock_run_owned(RELOCK_EXECUTING_ALONE, mutex, self, call->section, call->context);
  if (RELOCK_UNLIKELY(start))
    relock_manners_spent(self, relock_os->now_ns() - start);
  return result;
}

/* `kind` is SUBMITTED, the same with CHAINED, LIMITED or 0. */
static inline void fill(struct relock_request *slot, relock_mutex_t *mutex,
                        const struct relock_thread *self, const struct relock_call *call,
                        int32_t kind) {
  /* Release: pairs with the acquire in relock_runs_under(). */
  relock_store_release(&slot->mutex, mutex);
  relock_request_fill(slot, self, call);
  slot->result |= kind;
}

/* The server looks at the slot all the time, and would have its line back before the last of these
 * stores if there was anything between them, or a look before them. */
static inline void post(struct relock_server *server, struct relock_request *slot,
                        relock_mutex_t *mutex, const struct relock_thread *self,
                        const struct relock_call *call, int32_t kind) {
  fill(slot, mutex, self, call, kind);
  /* Release: pairs with the load in look_again(). */
  relock_store_release(&slot->state, RELOCK_SLOT_POSTED);
  if (RELOCK_UNLIKELY(relock_load_relaxed(&server->asleep)))
    relock_server_wake(server);
}

/* Whether lone.h may know the mutex: `owner` is free, and the class is of rcl. A client that may
 * take a share of its server only asks it. */
static bool may_be_lone(const relock_mutex_t *mutex, const struct relock_thread *self) {
  const unsigned kind = relock_load_relaxed(&mutex->relock_private.kind);
  return (kind & ~(unsigned)RELOCK_KIND_SEEN) == RELOCK_TYPE_NORMAL && !self->rcl_share &&
         !may_combine(mutex);
}

static int rcl_execute(relock_mutex_t *mutex, struct relock_thread *self,
                       const struct relock_call *call) {
  if (may_be_lone(mutex, self) && relock_lone_takes(mutex, self))
    return relock_run_owned(RELOCK_EXECUTING_ALONE, mutex, self, call->section, call->context);
  struct relock_server *server = relock_server_of(mutex, relock_class_of(mutex));
  struct relock_request *slot = free_slot(server, self);
  if (!slot)
    return run_here(mutex, server, self, call);
  if (RELOCK_UNLIKELY(self->rcl_share))
    relock_manners_wait(self, server);

  const relock_class_t *lock_class = relock_class_of(mutex);
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  self->rcl_asks++;
  self->rcl_served++;
  post(server, slot, mutex, self, call, self->rcl_share ? RELOCK_LIMITED : 0);
  enum outcome outcome = await_server(server, slot, &wait);
  self->rcl_asks--;
  learn(self, outcome);
  if (RELOCK_UNLIKELY(outcome == WITHDRAWN)) {
    relock_wait_give_up(&wait);
    return run_here(mutex, server, self, call);
  }
  relock_wait_end(&wait);
  relock_count_batch(self, lock_class, 1); /* for the server, which has no time to */
  if (RELOCK_UNLIKELY(self->rcl_share))
    relock_manners_spent(self, relock_load_relaxed(&server->spent_ns[self->rcl_number - 1]));
  return relock_request_result(slot, call);
}

/* Looks for half as long as any waiter spins, after so many turns of an empty loop. By an operation
 * that writes, so that the line comes to this processor once, to be read and to be written for the
 * next request. After a plain look that would have to wait until the server's copy is given up:
 * near processors took 1.15, far ones 1.4 times as long for a request. */
static enum reply { IN_TIME, EARLY, NEITHER } look(struct relock_request *slot, uint32_t turns) {
  const uint32_t most = relock_wait_spins() / 2;
  relock_wait_turns(turns);
  for (uint32_t looks = 0; looks < most; looks += relock_pauses(most - looks)) {
    /* Acquire: pairs with the release in run(). */
    if (relock_cas_acquire(&slot->state, RELOCK_SLOT_DONE, RELOCK_SLOT_FREE))
      return looks == 0 ? IN_TIME : EARLY;
  }
  return NEITHER;
}

/* A client that looks at its slot between the server's look and the server's reply takes the line
 * from under the reply, which costs another way there and back, a quarter of a request. So it
 * waits before it looks, as long as its last requests took: of nine, one is looked at too early.
 * At most a quarter of a waiter's spin. In turns of a loop, as a pause takes 40 to 140 cycles. */
enum { LATER = 16, SOONER = 2 };

static inline void adjust_patience(struct relock_thread *self, enum reply reply) {
  if (reply == IN_TIME && self->rcl_patience >= SOONER)
    self->rcl_patience -= SOONER;
  else if (reply == EARLY && self->rcl_patience < relock_wait_most_turns() / 4)
    self->rcl_patience += LATER;
}

/* Without the client's record, which a section with its identity uses meanwhile. */
static __attribute__((noinline)) enum outcome
await_long(struct relock_server *server, struct relock_request *slot, bool *parked) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  enum outcome outcome = await_server(server, slot, &wait);
  *parked = wait.parked;
  return outcome;
}

/* As free_slot(), but null for all that is seldom, and without a look at the slot, whose line the
 * server has. */
static inline struct relock_request *free_slot_at_once(struct relock_server *server,
                                                       const struct relock_thread *self) {
  /* Acquire: pairs with the release in relock_servicing_thread(). */
  if (!self->rcl_number || self->rcl_skip || self->rcl_share || self->rcl_serves ||
      self->rcl_asks || self->rcl_submitted ||
      relock_load_acquire(&server->state) != RELOCK_SERVER_RUNNING ||
      self->stack > relock_load_relaxed(&server->stack) || !relock_thread_can_wait(self))
    return NULL;
  return server->slots[self->rcl_number - 1];
}

bool relock_client_execute(relock_mutex_t *mutex, const relock_class_t *lock_class,
                           struct relock_thread *self, const struct relock_call *call,
                           int *result) {
  struct relock_server *server = relock_server_of(mutex, lock_class);
  struct relock_counters *counters = relock_counters_of(self, lock_class->relock_index);
  if (RELOCK_UNLIKELY(!counters))
    return false;
  struct relock_request *slot = free_slot_at_once(server, self);
  if (RELOCK_UNLIKELY(!slot))
    return false;
  uint64_t *counts = counters->value;
  relock_count_own(&counts[RELOCK_COUNT_EXECUTED], 1);
  if (RELOCK_UNLIKELY(relock_wait_counts(self)))
    relock_wait_look(self, true);
  self->rcl_asks = 1;
  self->rcl_served++;
  post(server, slot, mutex, self, call, 0);
  enum outcome outcome = SERVED;
  bool parked = false;
  const enum reply reply = look(slot, self->rcl_patience);
  if (RELOCK_UNLIKELY(reply == NEITHER))
    outcome = await_long(server, slot, &parked);
  self->rcl_asks = 0;
  adjust_patience(self, reply);
  if (RELOCK_UNLIKELY(outcome != SERVED || self->rcl_penalty))
    learn(self, outcome);
  if (RELOCK_UNLIKELY(outcome == WITHDRAWN)) {
    int previous;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous);
    *result = run_here(mutex, server, self, call);
    pthread_setcancelstate(previous, NULL);
    return true;
  }
  relock_count_own(&counts[RELOCK_COUNT_CONTENDED], 1);
  if (parked)
    relock_count_own(&counts[RELOCK_COUNT_PARKED], 1);
  /* For the server, which has no time to. */
  relock_count_own(&counts[RELOCK_COUNT_DELEGATED], 1);
  relock_count_own(&counts[RELOCK_COUNT_BATCHES], 1);
  *result = relock_request_result(slot, call);
  return true;
}

bool relock_client_post(struct relock_server *server, relock_mutex_t *mutex,
                        struct relock_thread *self, const struct relock_call *call, bool chained) {
  struct relock_request *slot = self->rcl_serves ? NULL : free_slot(server, self);
  if (!slot || self->rcl_share)
    return false;
  fill(slot, mutex, self, call, RELOCK_SUBMITTED | (chained ? RELOCK_CHAINED : 0));
  /* The client does not come back soon to see whether it has missed a server that goes to sleep.
   * Pairs with sleep_until_posted(), servicing.c: with its barrier if it can make one. */
  if (relock_barrier_works())
    relock_store_release(&slot->state, RELOCK_SLOT_POSTED);
  else
    (void)relock_exchange_seq_cst(&slot->state, RELOCK_SLOT_POSTED);
  relock_keep_order();
  if (RELOCK_UNLIKELY(relock_load_seq_cst(&server->asleep)))
    relock_server_wake(server);
  self->rcl_submitted |= 1u << server->number;
  return true;
}

bool relock_client_is_served(const struct relock_server *server, const struct relock_thread *self) {
  /* Acquire: pairs with the release in run(), servicing.c. */
  return relock_load_acquire(&server->slots[self->rcl_number - 1]->state) == RELOCK_SLOT_DONE;
}

bool relock_client_settle(struct relock_server *server, struct relock_thread *self, bool *parked) {
  struct relock_request *slot = server->slots[self->rcl_number - 1];
  struct relock_wait wait;
  relock_wait_begin(&wait, self, NULL);
  const bool waits = !relock_client_is_served(server, self);
  enum outcome outcome = await_server(server, slot, &wait);
  *parked = wait.parked;
  learn(self, outcome);
  self->rcl_submitted &= ~(1u << server->number); /* the slot is free */
  if (outcome == WITHDRAWN) {
    int saved = errno;                   /* the section's is nobody's */
    unsigned char copy[RELOCK_COPY_MAX]; /* the section may post nested requests in the slot */
    memcpy(copy, slot->context.copy, sizeof copy);
    const bool chained = slot->result & RELOCK_CHAINED;
    relock_mutex_t *mutex = relock_load_relaxed(&slot->mutex);
    const struct relock_call call = {slot->section, copy, 0, false};
    while (run_here(mutex, server, self, &call) && chained)
      continue;
    errno = saved;
  }
  return waits && outcome != WITHDRAWN;
}

static void rcl_lock(relock_mutex_t *mutex, struct relock_thread *self) {
  relock_adaptive.lock(mutex, self);
}

const struct relock_algorithm relock_rcl = {.name = "rcl",
                                            .lock = rcl_lock,
                                            .execute = rcl_execute,
                                            .always_delegates = true,
                                            .has_server = true,
                                            .can_move = true};

void relock_clients_after_fork(void) {
  struct relock_thread *own = relock_own_record;
  uint32_t kept = own ? own->rcl_number : 0;
  for (uint32_t i = 0; i < RELOCK_SLOTS; i++)
    number_taken[i] = i + 1 == kept;
  relock_slots_end = kept;
  relock_clients = kept != 0;
  relock_manners_after_fork();
  if (own) {
    own->rcl_skip = own->rcl_penalty = own->rcl_asks = 0;
    relock_manners_start(own);
  }
}
