/* SPDX-License-Identifier: MIT
 *
 * rcl: remote core locking (Lozi, David, Thomas, Lawall and Muller, 2012; Lozi's thesis, 2014,
 * chapter 4). A server thread runs the sections of all rcl locks of the process; clients post
 * requests in an array with one cache line for each.
 *
 * A request slot (`state` is the client's futex once it is claimed):
 *
 *             client posts         server claims          server has run the section
 *      FREE --------------> POSTED --------------> CLAIMED ------------------.
 *       ^ ^                 |    ^                  |   | client sleeps      v
 *       | `-----------------'    `------------------'   `--------> SLEPT -> DONE
 *       |   client withdraws       the lock is busy                          |
 *       `--------------------------------------------------------------------'
 *                                client takes the result
 *
 * The server:     NONE --first use--> STARTING --> RUNNING   (or FAILED: there is no thread)
 *                   ^------ fork, in the child; the server retires --'
 *
 * Invariants
 *  - The fields of a slot are the client's in FREE, POSTED and DONE and the server's in CLAIMED
 *    and SLEPT. A request runs once, because only the server claims and the claim excludes the
 *    withdrawal.
 *  - The server owns the lock's exclusion word while it runs a section, takes it by try only, and
 *    never takes it before waiters of the lock's queue (queue.h). It never waits for a lock.
 *  - A client sleeps on a claimed request only; until the claim it spins as long as the server
 *    gets on with other requests, for two passes at most, yields a few times, then withdraws the
 *    request and queues for the word as a holder does. So a server
 *    that is blocked in a section, or not scheduled, delays others and stops nobody, without the
 *    thread pool of the paper; and the requests of a busy lock do not hold up other locks.
 *  - The word is released before the request is DONE, and then not touched: the client may free
 *    the mutex at once.
 *  - When the server sleeps, every request posted since has a wake-up under way: the server sets
 *    `asleep` and then looks at the slots, a client posts and then looks at `asleep`, all four
 *    sequentially consistent.
 *  - A server that sleeps keeps a process alive only as long as the process's first thread lives,
 *    whose end ends the process anyhow unless it was by pthread_exit. From then on an idle server
 *    retires after a while, and the next use starts another. So when the program's own threads are
 *    gone, the last server is the last thread, and its end makes the C library call exit(0). The
 *    first thread clears `first_thread_lives` and then looks at `asleep`, as clients do. Requests
 *    that a server leaves behind are withdrawn, as from one that is not scheduled.
 *
 * Departures from the paper: the above, the claim (the printed servicing loop can run a request
 * twice), and no SCHED_FIFO and no pinning. Sections that themselves use an rcl lock take its
 * word directly: their client's slot is in use.
 *
 * Progress and fairness: requests are served in array order, each other client precedes one at
 * most once. Memory: 64 bytes per client in one array. A client spins on its own slot. A preempted
 * server costs its clients a bounded wait each; they then work without it for a while.
 */
#include "rcl.h"

#include "../base/class.h"
#include "../base/stack.h"
#include "../base/thread.h"
#include "../locks/algorithm.h"
#include "../locks/queue.h"
#include "../locks/section.h"

/* Clients beyond this number run without the server. 64 KiB of address space in all; only the
 * lines of slots in use are ever touched. */
enum { SLOTS = 1024 };

/* An idle server spins as long as any waiter (wait.h), then yields between passes this often, and
 * then sleeps. Spinning longer takes the processor from the very client that would post next when
 * there are not enough of them: at 2 clients on 2 processors a spin of 100 microseconds served
 * 30,000 sections per second. The yields last some 100 microseconds when nobody else wants the
 * processor. */
enum { IDLE_YIELDS = 200 };

/* How long a server sleeps that retires then: the process may end that much later than without
 * Relock, and a server is started that often at most (some 50 microseconds each). A guess. */
enum { RETIRE_NS = 20000000 };

/* How often a client whose spin is over offers its processor to the server. A guess. */
enum { YIELDS = 4 };

/* After each request in a row that it had to withdraw, or that was served only when it yielded its
 * processor, a client runs 1, 3, 7, ... sections without asking the server: where there is no
 * processor for the server, delegation costs a context switch per section. One vain request takes
 * about as long as this many sections. */
enum { MAX_PENALTY = 255 };

enum { SLOT_FREE, SLOT_POSTED, SLOT_CLAIMED, SLOT_SLEPT, SLOT_DONE };
enum { SERVER_NONE, SERVER_STARTING, SERVER_RUNNING, SERVER_FAILED };

static struct relock_request slots[SLOTS];
static uint8_t slot_taken[SLOTS];
static uint32_t slots_end; /* one more than the highest slot ever taken */

static uint32_t server_state;
/* Until it is known to live, servers retire: it may have ended before the runtime was loaded. */
static uint32_t first_thread_lives;
static size_t server_stack; /* bytes; set before the server starts */
static struct {
  _Alignas(RELOCK_CACHE_LINE) uint32_t asleep; /* a futex */
  /* What the server has done; only it writes, and clients look only after a while. */
  _Alignas(RELOCK_CACHE_LINE) struct progress {
    uint32_t passes; /* over the array */
    uint32_t served; /* requests */
  } progress;
} server;

/* --- the server ------------------------------------------------------------------------------ */

static void count(uint32_t *counter) {
  relock_store_relaxed(counter, relock_load_relaxed(counter) + 1);
}

/* Runs a posted request if its lock is free. */
static bool serve(struct relock_request *slot) {
  /* Acquire: pairs with the exchange of the client that posted. */
  if (!relock_cas_acquire(&slot->state, SLOT_POSTED, SLOT_CLAIMED))
    return false;
  relock_mutex_t *mutex = slot->mutex;
  if (!relock_queue_try(mutex)) {
    /* A client that went to sleep meanwhile is woken, to withdraw.
     * Release: pairs with the acquire of the withdrawal in await_server(). */
    if (relock_exchange_release(&slot->state, SLOT_POSTED) == SLOT_SLEPT)
      relock_os->futex_wake(&slot->state, 1);
    return false;
  }
  relock_store_relaxed(&mutex->relock_private.executing, 1);
  relock_request_run(slot);
  relock_store_relaxed(&mutex->relock_private.executing, 0);
  relock_count_batch(relock_thread_self(), relock_class_of(mutex), 1);
  relock_word_release(&mutex->relock_private.word);
  count(&server.progress.served);
  /* Release: pairs with the acquire in await_server(). */
  if (relock_exchange_release(&slot->state, SLOT_DONE) == SLOT_SLEPT)
    relock_os->futex_wake(&slot->state, 1);
  return true;
}

/* One pass over the array. */
static bool serve_all(void) {
  bool served = false;
  /* Acquire: pairs with the release in take_slot(). */
  uint32_t end = relock_load_acquire(&slots_end);
  for (uint32_t i = 0; i < end; i++)
    if (relock_load_relaxed(&slots[i].state) == SLOT_POSTED && serve(&slots[i]))
      served = true;
  count(&server.progress.passes);
  return served;
}

static bool has_request(void) {
  uint32_t end = relock_load_seq_cst(&slots_end);
  for (uint32_t i = 0; i < end; i++)
    if (relock_load_seq_cst(&slots[i].state) == SLOT_POSTED)
      return true;
  return false;
}

static struct timespec retirement(void) {
  uint64_t ns = relock_os->now_ns() + RETIRE_NS;
  return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* False: the server is to retire. */
static bool sleep_until_posted(void) {
  relock_exchange_seq_cst(&server.asleep, 1);
  const bool stays = relock_load_seq_cst(&first_thread_lives);
  const struct timespec deadline = stays ? (struct timespec){0} : retirement();
  int error = 0;
  while (error == 0 && relock_load_seq_cst(&server.asleep) && !has_request())
    error = relock_os->futex_wait(&server.asleep, 1, CLOCK_MONOTONIC, stays ? NULL : &deadline);
  relock_store_relaxed(&server.asleep, 0);
  return error == 0;
}

static void *run_server(void *unused) {
  /* Release: pairs with the acquire in is_running(). */
  relock_store_release(&server_state, SERVER_RUNNING);
  struct relock_thread *self = relock_thread_self();
  if (self)
    self->rcl_refused = 1;
  const uint32_t spins = relock_wait_spins();
  uint32_t idle = 0;
  for (;;) {
    if (serve_all()) {
      idle = 0;
      continue;
    }
    idle++;
    if (idle <= spins) {
      relock_pause();
    } else if (idle <= spins + IDLE_YIELDS) {
      relock_os->yield();
    } else if (sleep_until_posted()) {
      idle = 0;
    } else {
      break;
    }
  }
  /* Release: what this server has written comes before what the next one writes. */
  relock_store_release(&server_state, SERVER_NONE);
  return unused;
}

/* --- clients --------------------------------------------------------------------------------- */

void relock_rcl_thread_ends(struct relock_thread *record) {
  if (record->rcl_slot)
    /* Release: pairs with the acquire in take_slot(). */
    relock_store_release(&slot_taken[record->rcl_slot - slots], 0);
}

/* The lowest slot that is not taken: the server scans up to the highest one ever used. */
static struct relock_request *take_slot(void) {
  for (uint32_t i = 0; i < SLOTS; i++) {
    /* Acquire: pairs with the release in relock_rcl_thread_ends(). */
    if (relock_load_relaxed(&slot_taken[i]) || !relock_cas_acquire(&slot_taken[i], 0, 1))
      continue;
    uint32_t end = relock_load_relaxed(&slots_end);
    /* Release: pairs with the acquire in serve_all(). */
    while (end <= i && !relock_cas_release(&slots_end, end, i + 1))
      end = relock_load_relaxed(&slots_end);
    return &slots[i];
  }
  return NULL;
}

static bool is_running(void) {
  /* Acquire: pairs with the releases in run_server(). */
  uint32_t state = relock_load_acquire(&server_state);
  if (RELOCK_LIKELY(state == SERVER_RUNNING))
    return true;
  if (state != SERVER_NONE || !relock_cas_acquire(&server_state, SERVER_NONE, SERVER_STARTING))
    return false;
  relock_store_relaxed(&server_stack, relock_default_stack_size());
  if (relock_os->start_thread(run_server, NULL, "relock-rcl") == 0)
    return true;
  relock_store_relaxed(&server_state, SERVER_FAILED);
  return false;
}

/* The calling thread's slot if it can post a request now, else null. */
static struct relock_request *free_slot(struct relock_thread *self) {
  if (RELOCK_UNLIKELY(!is_running()))
    return NULL;
  if (RELOCK_UNLIKELY(self->rcl_skip > 0)) {
    self->rcl_skip--;
    return NULL;
  }
  if (RELOCK_UNLIKELY(!self->rcl_slot)) {
    if (self->rcl_refused)
      return NULL;
    self->rcl_slot = take_slot();
    if (!self->rcl_slot) {
      self->rcl_refused = 1;
      return NULL;
    }
  }
  /* In use: we are in a section of this client that the server runs. */
  return relock_load_relaxed(&self->rcl_slot->state) == SLOT_FREE ? self->rcl_slot : NULL;
}

static void wake_server(void) {
  if (relock_exchange_seq_cst(&server.asleep, 0))
    relock_os->futex_wake(&server.asleep, 1);
}

static struct progress observe(void) {
  return (struct progress){relock_load_relaxed(&server.progress.passes),
                           relock_load_relaxed(&server.progress.served)};
}

enum outcome { SERVED, SERVED_LATE, WITHDRAWN };

/* Waits for the section to be run. While nobody has claimed the request, it spins on as long as the
 * server serves others meanwhile, unless the server has come by twice and found the lock busy. A
 * server that stands still is blocked in a section or not scheduled: it is offered the processor a
 * few times, and then the request is withdrawn. */
static enum outcome await_server(struct relock_request *slot, struct relock_wait *wait) {
  struct progress start = {0, 0}, last = {0, 0};
  unsigned yields = YIELDS;
  bool watched = false, late = false;
  for (;;) {
    /* Acquire: pairs with the release in serve(). */
    uint32_t state = relock_load_acquire(&slot->state);
    if (state == SLOT_DONE)
      return late ? SERVED_LATE : SERVED;
    if (state == SLOT_POSTED && wait->spins == 0 && !late) {
      struct progress now = observe();
      if (!watched)
        start = now;
      late = watched && (now.served == last.served || now.passes - start.passes >= 2);
      last = now;
      watched = true;
      wait->spins = late ? 0 : relock_wait_spins();
    }
    if (relock_wait_again(wait))
      continue;
    if (yields > 0) {
      yields--;
      relock_os->yield();
    } else if (state == SLOT_POSTED) {
      /* Acquire: pairs with the release in serve() that gave the request back. */
      if (relock_cas_acquire(&slot->state, SLOT_POSTED, SLOT_FREE))
        return WITHDRAWN;
    } else if (state == SLOT_SLEPT || relock_cas_relaxed(&slot->state, SLOT_CLAIMED, SLOT_SLEPT)) {
      relock_wait_park(wait, &slot->state, SLOT_SLEPT, CLOCK_MONOTONIC, NULL);
    }
  }
}

/* Decides how soon to ask the server again. */
static void learn(struct relock_thread *self, enum outcome outcome) {
  if (outcome == SERVED)
    self->rcl_penalty /= 2;
  else if (self->rcl_penalty < MAX_PENALTY)
    self->rcl_penalty = 2 * self->rcl_penalty + 1;
  self->rcl_skip = self->rcl_penalty;
}

static int run_here(relock_mutex_t *mutex, struct relock_thread *self,
                    const struct relock_call *call) {
  if (!relock_queue_try(mutex))
    relock_load_relaxed(&relock_class_of(mutex)->relock_ops)->lock(mutex, self);
  return relock_run_and_release(mutex, call->section, call->context);
}

static int execute(relock_mutex_t *mutex, struct relock_thread *self,
                   const struct relock_call *call) {
  struct relock_request *slot = free_slot(self);
  if (!slot || self->stack > relock_load_relaxed(&server_stack))
    return run_here(mutex, self, call);

  slot->mutex = mutex;
  relock_request_fill(slot, self, call);
  struct relock_wait wait;
  relock_wait_begin(&wait, self, mutex);
  /* Pairs with the acquire in serve() and, in the total order, with sleep_until_posted(). */
  relock_exchange_seq_cst(&slot->state, SLOT_POSTED);
  if (RELOCK_UNLIKELY(relock_load_seq_cst(&server.asleep)))
    wake_server();
  enum outcome outcome = await_server(slot, &wait);
  learn(self, outcome);
  if (RELOCK_LIKELY(outcome != WITHDRAWN)) {
    relock_wait_end(&wait);
    int result = relock_request_result(slot, call);
    relock_store_relaxed(&slot->state, SLOT_FREE);
    return result;
  }
  return run_here(mutex, self, call);
}

void relock_rcl_first_thread(bool lives) {
  relock_exchange_seq_cst(&first_thread_lives, lives);
  if (!lives)
    wake_server();
}

void relock_rcl_after_fork(void) {
  struct relock_request *own = relock_own_record ? relock_own_record->rcl_slot : NULL;
  for (uint32_t i = 0; i < slots_end; i++) {
    slots[i].state = SLOT_FREE;
    slot_taken[i] = &slots[i] == own;
  }
  server.asleep = 0;
  if (relock_own_record)
    relock_own_record->rcl_skip = relock_own_record->rcl_penalty = 0;
  if (server_state != SERVER_FAILED)
    server_state = SERVER_NONE;
}

const struct relock_algorithm relock_rcl = {
    .name = "rcl", .lock = relock_queue_lock, .execute = execute, .always_delegates = true};
