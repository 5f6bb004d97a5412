/* SPDX-License-Identifier: MIT
 *
 * A servicing thread. It goes over the slots of its server's clients, runs the requests that are
 * posted there, and sleeps when there has been none for a while. README.md explains the protocol.
 */
#include "server.h"

#include "../base/os.h"
#include "../base/request.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../locks/section.h"

#include <errno.h>

/* An idle server passes over the slots a few times at once, then spins as long as any waiter
 * (wait.h), then yields between passes this often, and then sleeps. Spinning longer takes the
 * processor from the very client that would post next when there are not enough of them: at 2
 * clients on 2 processors a spin of 100 microseconds served 30,000 sections per second. The yields
 * last some 100 microseconds when nobody else wants the processor. */
enum { IDLE_YIELDS = 200 };

/* On a processor of its own, with SCHED_FIFO, it would yield to nobody: it spins so many times
 * longer instead, and is not in the kernel when the next request comes. */
enum { OWN_SPINS = 50 };

/* The first looks without a request follow each other without a pause, which takes 60 to 140
 * cycles, as long as the way of a request to the server. They last 0.6 microseconds with 32
 * clients, 1 with 8, and 2 to 3 with one, as a pass takes more than its looks. */
enum { LOOKS_AT_ONCE = 1024 };

/* How long a server sleeps that retires then: the process may end that much later than without
 * Relock, and a server is started that often at most (some 50 microseconds each). A guess. */
enum { RETIRE_NS = 20000000 };

/* Some client sleeps until its request is served: perhaps this one. */
static __attribute__((noinline)) void wake_client(struct relock_server *server, uint32_t number) {
  /* Relaxed: set before `unusual` is, which the caller has seen. */
  if (relock_load_relaxed(&server->client_sleeps[number]))
    relock_os->futex_wake(&server->slots[number]->state, 1);
}

/* Those who have waited for the end of the last announcement are woken now, before the next
 * section, which may last: who wants the word, and the client, whether its section was run or
 * not. */
static void look_after(struct relock_servicer *self, uint32_t last) {
  relock_wake_heirs(self);
  if (last)
    wake_client(self->server, last - 1);
}

/* Says what this thread is about to look at: one more than the slot, or 0. From the announcement
 * on nobody else takes the request, no client withdraws it, and no word that the server keeps is
 * taken from it unnoticed. False: serve_unusual(), or look_after() the last announcement. */
static inline bool announce(struct relock_servicer *self, uint32_t slot, uint32_t *last) {
  *last = relock_load_relaxed(&self->announced);
  /* Comes before what this thread looks at next for whoever has passed
   * relock_await_announcements(). Release: the section before is over for whoever reads this. */
  if (RELOCK_LIKELY(relock_barrier_works())) {
    relock_store_release(&self->announced, slot);
    relock_keep_order();
  } else {
    (void)relock_exchange_seq_cst(&self->announced, slot);
  }
  /* Sequentially consistent: pairs with all who count there, and look at announcements then. */
  return RELOCK_LIKELY(relock_load_seq_cst(&self->server->unusual) == 0);
}

static void announce_nothing(struct relock_servicer *self) {
  *self->running = NULL;
  uint32_t last;
  if (!announce(self, 0, &last))
    look_after(self, last);
}

/* Whether another thread of the pool is at the same request. Two that find each other both let go,
 * and come by again. */
static bool is_somebody_elses(struct relock_servicer *self, uint32_t slot) {
  /* Sequentially consistent: pairs with itself in the other thread. */
  (void)relock_exchange_seq_cst(&self->announced, slot + 1);
  const struct relock_server *server = self->server;
  uint32_t places = relock_load_seq_cst(&server->places);
  for (uint32_t i = 0; i < places; i++)
    if (&server->servicer[i] != self &&
        relock_load_seq_cst(&server->servicer[i].announced) == slot + 1)
      return true;
  return false;
}

/* Whether another thread of the pool is under the same mutex. */
static bool is_somebody_inside(const struct relock_servicer *self, const relock_mutex_t *mutex) {
  const struct relock_server *server = self->server;
  uint32_t places = relock_load_seq_cst(&server->places);
  for (uint32_t i = 0; i < places; i++)
    if (&server->servicer[i] != self && relock_runs_under(&server->servicer[i], mutex))
      return true;
  return false;
}

static void count_section(struct relock_servicer *self, const relock_mutex_t *mutex) {
  relock_count_own(&self->sections, 1);
  if (!self->first_mutex)
    self->first_mutex = mutex;
  else if (self->first_mutex != mutex)
    self->mixed = true;
  relock_count_own(&self->server->progress.served, 1);
}

/* With its client's identity, or for a client that does not wait and so does not count it, or that
 * may take a share of the server only. */
static __attribute__((noinline)) struct relock_reply
run_specially(struct relock_servicer *self, uint32_t number, const struct relock_request *slot,
              const relock_class_t *lock_class) {
  if (slot->result & RELOCK_SUBMITTED)
    relock_count_batch(relock_thread_self(), lock_class, 1);
  const bool timed = slot->result & RELOCK_LIMITED;
  const uint64_t start = timed ? relock_os->now_ns() : 0;
  const struct relock_reply reply = relock_request_section(slot, self->record, self->here);
  if (timed)
    relock_store_relaxed(&self->server->spent_ns[number], relock_os->now_ns() - start);
  return reply;
}

/* The mutex of the announced request if it is still there, else null. Only after the announcement:
 * another thread that was at the request until then may have run it. Whoever comes later finds it
 * announced. */
static inline relock_mutex_t *look_again(struct relock_request *slot) {
  /* Acquire: pairs with the release of the client that posted. */
  const uint32_t state = relock_load_seq_cst(&slot->state);
  if (RELOCK_LIKELY(state == RELOCK_SLOT_POSTED))
    return relock_load_seq_cst(&slot->mutex);
  /* A client that leaves waits until it knows. From its post on, only this thread or the client,
   * which finds it announced, change the state. */
  if (state == RELOCK_SLOT_LEAVING)
    (void)relock_cas_seq_cst(&slot->state, RELOCK_SLOT_LEAVING, RELOCK_SLOT_FREE);
  return NULL;
}

/* Runs the announced request if the word of its mutex can be had. */
static inline bool run(struct relock_servicer *self, uint32_t number, struct relock_request *slot,
                       relock_mutex_t *mutex) {
  const int32_t how = slot->result;
  if (RELOCK_UNLIKELY(how & RELOCK_AS_CLIENT) && !self->record)
    return false; /* who has no record cannot say whose identity it uses: its client runs it */
  if (!relock_own(self, mutex))
    return false;
  relock_store_relaxed(&self->runs_under, mutex);
  *self->running = slot;
  const struct relock_reply reply =
      RELOCK_UNLIKELY(how & (RELOCK_AS_CLIENT | RELOCK_SUBMITTED | RELOCK_LIMITED))
          ? run_specially(self, number, slot, relock_class_of(mutex))
          : relock_run_for_any_thread(slot->section, relock_request_context(slot), self->here);
  relock_store_relaxed(&self->runs_under, NULL);
  if (RELOCK_UNLIKELY(self->owns_once))
    relock_disown(self, mutex);
  if (RELOCK_UNLIKELY(how & RELOCK_CHAINED) && reply.result) {
    /* It stays posted, with what has become of the chain, for the next turn; who takes it then has
     * read the announcement after this one. A section that has waited took the mutex away. */
    relock_store_relaxed(&slot->mutex, mutex);
  } else {
    relock_request_reply(slot, reply);
    /* Release: pairs with the acquires in await_server() and relock_runs_under(). */
    relock_store_release(&slot->state, RELOCK_SLOT_DONE);
  }
  count_section(self, mutex); /* its address only, for comparison */
  return true;
}

/* The same as serve() where there is something to look after, see `unusual`, or a thread forks. */
static __attribute__((noinline)) bool serve_unusual(struct relock_servicer *self, uint32_t number,
                                                    struct relock_request *slot, uint32_t last) {
  look_after(self, last);
  /* Sequentially consistent: pairs with the pool's change of `active`. */
  const bool alone = relock_load_seq_cst(&self->server->active) == 1;
  if (!alone && is_somebody_elses(self, number))
    return false;
  relock_mutex_t *mutex = look_again(slot);
  if (!mutex || relock_load_seq_cst(&relock_forking) ||
      (!alone && is_somebody_inside(self, mutex)) || !run(self, number, slot, mutex))
    return false;
  if (!alone)
    relock_count_own(&self->slow, 1);
  return true;
}

/* Runs the request in this slot if it is still there and its mutex can be had. From its look to its
 * reply it does as little as it can: clients look, too, and their looks take the line away. Alone,
 * this thread need not look at others of the pool: whoever becomes active later looks at its
 * announcement. */
static inline bool serve(struct relock_servicer *self, uint32_t number,
                         struct relock_request *slot) {
  uint32_t last;
  if (!announce(self, number + 1, &last) || RELOCK_UNLIKELY(relock_load_seq_cst(&relock_forking)))
    return serve_unusual(self, number, slot, last);
  relock_mutex_t *mutex = look_again(slot);
  return RELOCK_LIKELY(mutex != NULL) && run(self, number, slot, mutex);
}

static void count_pass(struct relock_servicer *self) {
  relock_count_own(&self->active_passes, 1);
  relock_count_own(&self->client_passes, relock_load_relaxed(&relock_clients));
  if (self->mixed)
    relock_count_own(&self->mixed_passes, 1);
  self->first_mutex = NULL;
  self->mixed = false;
}

static inline bool serve_if_posted(struct relock_servicer *self, struct relock_request (*slots)[2],
                                   uint32_t number) {
  struct relock_request *slot = slots[number];
  return RELOCK_UNLIKELY(relock_slot_is_pending(relock_load_relaxed(&slot->state))) &&
         serve(self, number, slot);
}

/* Between any two other sections each urgent client has one turn, so that the others wait for no
 * more than that. */
static bool serve_urgent(struct relock_servicer *self) {
  bool served = false;
  if (RELOCK_LIKELY(relock_load_relaxed(&relock_urgent_clients) == 0))
    return false;
  for (uint32_t i = 0; i < RELOCK_SLOT_WORDS; i++) {
    uint64_t left = relock_load_relaxed(&relock_urgent_slots[i]);
    for (; left != 0; left &= left - 1)
      if (serve_if_posted(self, self->server->slots, 64 * i + (uint32_t)__builtin_ctzll(left)))
        served = true;
  }
  return served;
}

static inline bool serve_in_turn(struct relock_servicer *self, struct relock_request (*slots)[2],
                                 uint32_t slot) {
  if (RELOCK_LIKELY(!serve_if_posted(self, slots, slot)))
    return false;
  self->last = slot;
  serve_urgent(self);
  return true;
}

/* The client that was served last is the likeliest to ask again: of many threads on a processor it
 * is the one that runs. So the server comes by again after each so many slots in which there was no
 * request, and that client precedes one that waits that often in a pass, but only until another is
 * found. */
enum { SLOTS_BEFORE_LAST = 8 };

/* One pass over the array. */
static bool serve_all(struct relock_servicer *self) {
  struct relock_server *server = self->server;
  struct relock_request(*slots)[2] = server->slots;
  bool served = serve_urgent(self);
  /* Acquire: pairs with the release in set_end(), client.c. */
  const uint32_t end = relock_load_acquire(&relock_slots_end);
  for (uint32_t i = 0; i < end;) {
    const uint32_t stop = end - i > SLOTS_BEFORE_LAST ? i + SLOTS_BEFORE_LAST : end;
    bool found = false;
    for (; i < stop; i++)
      found |= serve_in_turn(self, slots, i);
    if (!found)
      found = serve_in_turn(self, slots, self->last);
    served |= found;
  }
  if (served)
    count_pass(self);
  else if (self->announced)
    announce_nothing(self);
  relock_count_own(&server->progress.passes, 1);
  return served;
}

/* In the total order: pairs with set_end() and with the clients' posts, or what repeats them
 * (await_server()). */
static bool has_request(const struct relock_server *server) {
  uint32_t end = relock_load_seq_cst(&relock_slots_end);
  for (uint32_t i = 0; i < end; i++)
    if (relock_slot_is_pending(relock_load_seq_cst(&server->slots[i]->state)))
      return true;
  return false;
}

/* False: nobody has asked for long, and the process may be about to end. */
static bool sleep_until_posted(struct relock_servicer *self) {
  struct relock_server *server = self->server;
  relock_exchange_seq_cst(&server->asleep, 1);
  if (relock_barrier_works())
    relock_word_barrier(); /* clients have posted before, or see that this server is asleep */
  const bool stays = relock_load_seq_cst(&relock_first_thread_lives);
  const struct timespec deadline = relock_time(relock_os->now_ns() + RETIRE_NS);
  int error = 0;
  while (error == 0 && relock_load_seq_cst(&server->asleep) && !has_request(server)) {
    relock_count_own(&server->parks, 1);
    error = relock_os->futex_wait(&server->asleep, 1, CLOCK_MONOTONIC, stays ? NULL : &deadline);
  }
  relock_store_relaxed(&server->asleep, 0);
  return error == 0 || has_request(server);
}

/* After so many passes without a section. False: as sleep_until_posted(). */
static bool rest(struct relock_servicer *self, uint32_t spins, uint32_t *idle) {
  const struct relock_server *server = self->server;
  const bool own = server->realtime && relock_load_relaxed(&server->active) == 1;
  const uint32_t looks = relock_load_relaxed(&relock_slots_end) + 1;
  ++*idle;
  if (spins && *idle * looks <= LOOKS_AT_ONCE)
    return true;
  const uint32_t at_once = spins ? LOOKS_AT_ONCE / looks : 0;
  const uint32_t pauses = at_once + (own ? OWN_SPINS * spins : spins);
  if (*idle <= pauses) {
    *idle += relock_pauses(pauses - *idle + 1) - 1;
  } else if (*idle <= pauses + (own && spins ? 0 : IDLE_YIELDS)) {
    relock_os->yield();
  } else {
    *idle = 0;
    return sleep_until_posted(self);
  }
  return true;
}

/* The thread that first writes to a page decides on which NUMA node it lies. Before any client uses
 * the slots: by the first thread, before the server is RUNNING for the first time. */
static void home_slots(struct relock_server *server) {
  enum { SLOTS_PER_PAGE = 4096 / (2 * sizeof(struct relock_request)) };
  for (uint32_t i = 0; i < RELOCK_SLOTS; i += SLOTS_PER_PAGE)
    relock_store_relaxed(&server->slots[i]->state, RELOCK_SLOT_FREE);
  server->homed = true;
}

void *relock_servicing_thread(void *argument) {
  struct relock_servicer *self = argument;
  struct relock_server *server = self->server;
  relock_server_place_thread(server, RELOCK_LEVEL_SERVICING);
  relock_store_relaxed(&self->tid, relock_os->thread_id());
  if (!server->homed)
    home_slots(server);
  if (relock_load_relaxed(&relock_stats_timed)) {
    relock_count_own(&self->misses, relock_os->read_counter(self->miss_counter));
    relock_store_relaxed(&self->miss_counter, relock_os->count_misses(self->miss_counter));
  }
  /* Release: pairs with the acquire in is_running(), client.c. */
  relock_store_release(&server->state, RELOCK_SERVER_RUNNING);
  struct relock_thread *record = relock_thread_self();
  if (record)
    record->rcl_serves = server;
  if (record && !record->watched)
    relock_overflow_watch(record);
  self->here = &errno;
  struct relock_run run = {NULL, NULL};
  self->running = &run.request;
  if (record)
    record->running = &run;
  relock_store_relaxed(&self->record, record);
  const uint32_t spins = relock_wait_spins();
  uint32_t idle = 0;
  for (;;) {
    if (serve_all(self))
      idle = 0;
    else if (!rest(self, spins, &idle) && relock_pool_retire(self))
      break;
    if (RELOCK_UNLIKELY(relock_load_relaxed(&server->active) > 1)) {
      announce_nothing(self);
      if (!relock_pool_stay(self))
        break;
    }
  }
  relock_store_relaxed(&self->record, NULL);
  if (record) {
    record->running = NULL;
    record->rcl_serves = NULL; /* this is no end that a section has caused */
  }
  /* Release: pairs with the acquire in activate(), pool.c. */
  relock_store_release(&self->state, RELOCK_SERVICER_NONE);
  return NULL;
}
