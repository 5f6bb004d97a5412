/* SPDX-License-Identifier: MIT
 *
 * A server: threads that run the sections of the mutexes whose classes are given to it. README.md
 * explains the protocol with its states and invariants; this is what its parts share.
 *
 *   client.c     rcl: a client's way to its server and back
 *   servicing.c  a servicing thread: takes requests off the array, sleeps when there are none
 *   ownership.c  words of mutexes that a server keeps between sections
 *   pool.c       the servicing threads of a server, its manager, its backup thread
 *   watchdog.c   sections that do not end are named
 *   servers.c    where servers run; classes move; fork, the end of the process, statistics
 *   lone.c       mutexes that one thread asks for
 *   manners.c    clients that go first, and those that may take a share only
 *   balance.c    the rebalancer
 */
#ifndef RELOCK_SERVER_SERVER_H
#define RELOCK_SERVER_SERVER_H

#include "../base/atomic.h"
#include "../base/class.h"
#include "../base/thread.h"
#include "../base/word.h"
#include "../locks/queue.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  RELOCK_SLOTS = 1024, /* clients beyond this number run without a server */
  RELOCK_POOL = 16,    /* servicing threads of a server */
};

/* A request slot. See README.md, "A request". The odd ones are those that a server looks for. */
enum {
  RELOCK_SLOT_FREE = 0,
  RELOCK_SLOT_POSTED = 1,
  RELOCK_SLOT_DONE = 2,
  RELOCK_SLOT_LEAVING = 3,
};

enum { RELOCK_SERVER_NONE, RELOCK_SERVER_STARTING, RELOCK_SERVER_RUNNING, RELOCK_SERVER_REFUSED };

/* A place for a servicing thread. NONE: has no thread; PREPARED: one that sleeps on `state`;
 * ENDING: one that is to end, and sets NONE when it does; LOST: had one that a section has ended,
 * whose mutex stays locked. */
enum {
  RELOCK_SERVICER_NONE,
  RELOCK_SERVICER_ACTIVE,
  RELOCK_SERVICER_PREPARED,
  RELOCK_SERVICER_ENDING,
  RELOCK_SERVICER_LOST,
};

struct relock_server;

/* A servicing thread. */
struct relock_servicer {
  /* What it is about to run or runs: one more than the slot's number, 0: nothing. It stays until
   * the next announcement. Written by the thread itself. Who waits for the end of a section makes
   * `awaited` odd, and sleeps on it; the end makes it even again, and another number. */
  _Alignas(RELOCK_CACHE_LINE) uint32_t announced;
  uint32_t awaited;

  /* The thread's own, readable by all. */
  _Alignas(RELOCK_CACHE_LINE) struct relock_server *server;
  uint32_t state; /* changed under the pool's word; a futex */
  uint64_t sections;
  uint64_t slow;                /* of those, run while other threads of the pool were active */
  uint64_t active_passes;       /* over the array in which a section was run */
  uint64_t mixed_passes;        /* of those, with sections of two or more mutexes */
  uint64_t client_passes;       /* the sum of the live clients over the active passes */
  uint64_t misses;              /* of the cache, by those that had this place before */
  struct relock_thread *record; /* its thread's */
  int *here;                    /* its thread's errno */
  const struct relock_request **running; /* where it says what it ran last */
  uint32_t last;                         /* slot that it has served, in turn */
  int miss_counter;
  int tid;
  uint64_t elected; /* the cycle in which the manager gave it the processor last, see pool.c */
  const relock_mutex_t *runs_under;  /* the mutex of the section that it is in, else null */
  bool owns_once;                    /* its word, see ownership.c; false between sections */
  const relock_mutex_t *first_mutex; /* that was served in this pass */
  bool mixed;
  /* Mutexes that had to be given back lately, see ownership.c. */
  struct relock_reluctance {
    const relock_mutex_t *mutex;
    uint32_t sections; /* to run before the word is kept again */
    uint32_t next;     /* and how many it will be after the next time */
    bool kept;
    uint64_t kept_at; /* the thread's `sections` then */
  } reluctance[64];
};

struct relock_server {
  /* Every other line: processors that fetch lines in pairs would move a slot with its neighbour.
   * Set before the state is RUNNING for the first time. */
  struct relock_request (*slots)[2];
  uint32_t state;
  uint32_t number;   /* from 0; users count from 1 */
  uint32_t active;   /* servicing threads that are ACTIVE */
  uint32_t places;   /* one more than the highest place that was ever taken */
  size_t stack;      /* of its threads, bytes; changes when it is started again */
  int32_t cpu;       /* that it was given; negative: none */
  uint32_t realtime; /* it has SCHED_FIFO */
  bool homed;        /* its slots lie where it runs */

  _Alignas(RELOCK_CACHE_LINE) uint32_t asleep; /* a futex */

  /* How much there is that a servicing thread has to look after whenever it has announced
   * something, see announce(): clients that sleep until they are served, heirs that sleep until a
   * section is over; and 1 while several servicing threads are active. Counted in one place so that
   * a section costs one look. */
  _Alignas(RELOCK_CACHE_LINE) uint32_t unusual;

  /* How the server gets on; clients look only after a while. */
  _Alignas(RELOCK_CACHE_LINE) struct relock_progress {
    uint64_t passes; /* over the array */
    uint64_t served;
  } progress;

  /* The pool and its manager. */
  _Alignas(RELOCK_CACHE_LINE) uint32_t pool_word;
  uint32_t manager;       /* see pool.c; a futex */
  uint32_t reported;      /* since the manager has looked */
  uint64_t elections;     /* cycles */
  uint64_t manager_wakes; /* statistics, by the manager */
  uint64_t activations;   /* under the pool's word */
  uint64_t parks;         /* times that the server went to sleep */

  uint8_t client_sleeps[RELOCK_SLOTS];
  uint64_t spent_ns[RELOCK_SLOTS]; /* in the last section of a client whose sections are timed */
  struct relock_servicer servicer[RELOCK_POOL];
};

extern struct relock_server relock_servers[RELOCK_MAX_SERVERS] RELOCK_HIDDEN;

/* One more than the highest that was ever started. */
extern uint32_t relock_servers_end RELOCK_HIDDEN;

/* Until it is known to live, servers retire: it may have ended before the runtime was loaded. */
extern uint32_t relock_first_thread_lives RELOCK_HIDDEN;

/* While a thread forks no section begins, see servers.c. */
extern uint32_t relock_forking RELOCK_HIDDEN;

/* --- clients' numbers (client.c) ------------------------------------------------------------- */

/* One more than the highest slot that belongs to a thread, and how many do. */
extern uint32_t relock_slots_end RELOCK_HIDDEN;
extern uint32_t relock_clients RELOCK_HIDDEN;

/* Clients that are served first, as bits by their numbers; how many there are. See manners.c. */
enum { RELOCK_SLOT_WORDS = RELOCK_SLOTS / 64 };
extern uint64_t relock_urgent_slots[RELOCK_SLOT_WORDS] RELOCK_HIDDEN;
extern uint32_t relock_urgent_clients RELOCK_HIDDEN;

static inline bool relock_slot_is_pending(uint32_t state) { return state % 2; }

/* A server's `number`, also before it was ever started. */
static inline uint32_t relock_server_number(const struct relock_server *server) {
  return (uint32_t)(server - relock_servers);
}

/* Whether the thread's slot at that server holds what it has submitted and not waited for. */
static inline bool relock_has_submitted(const struct relock_thread *self, uint32_t number) {
  return self->rcl_submitted >> number & 1;
}

/* --- servicing (servicing.c) ----------------------------------------------------------------- */

void relock_wake_heirs_of(struct relock_servicer *servicer); /* ownership.c */

/* Body of a servicing thread; its place. */
void *relock_servicing_thread(void *servicer);

/* Wakes those who wait for the end of the section that this thread was in. */
static inline void relock_wake_heirs(struct relock_servicer *servicer) {
  /* Sequentially consistent: pairs with inherit(), ownership.c, which looks for the section after
   * it has made this odd. */
  if (RELOCK_UNLIKELY(relock_load_seq_cst(&servicer->awaited) % 2))
    relock_wake_heirs_of(servicer);
}

/* Makes the server look at its slots if it sleeps. */
void relock_server_wake(struct relock_server *server);

/* Between a write that servicing threads look at after they have announced a request, and the
 * writer's look at the announcements. These are plain stores where the kernel can make all threads
 * pass a barrier, see announce(): of a server's time for a section they would be a twentieth. */
static inline void relock_await_announcements(void) {
  if (relock_barrier_works())
    relock_word_barrier();
}

/* Whether one of the server's threads runs, or is about to run or to refuse, the request in this
 * slot. Pairs with announce(), after relock_await_announcements(). */
static inline bool relock_is_announced(const struct relock_server *server, uint32_t slot) {
  uint32_t places = relock_load_seq_cst(&server->places);
  for (uint32_t i = 0; i < places; i++)
    if (relock_load_seq_cst(&server->servicer[i].announced) == slot + 1)
      return true;
  return false;
}

/* Whether this thread runs a section under the mutex, or has announced to try. Not whether the
 * caller, who holds the mutex or runs the section, is that thread: `runs_under` tells that. */
static inline bool relock_runs_under(const struct relock_servicer *servicer,
                                     const relock_mutex_t *mutex) {
  uint32_t announced = relock_load_seq_cst(&servicer->announced);
  if (announced == 0)
    return false;
  const struct relock_request *slot = servicer->server->slots[announced - 1];
  /* Sequentially consistent: what the servicing thread has read of them before it looked at the
   * mutex's word, this reads, or newer. Acquire, twice: pair with the releases of the client that
   * posts its next request there and of the thread that has run this one; either comes after the
   * section. */
  if (relock_load_seq_cst(&slot->mutex) != mutex)
    return false;
  return relock_slot_is_pending(relock_load_seq_cst(&slot->state));
}

/* --- ownership (ownership.c) ----------------------------------------------------------------- */

extern const struct relock_served relock_served RELOCK_HIDDEN;

/* Whether a servicing thread, which has announced the slot, owns the mutex's word: because its
 * server keeps it, or, and then `owns_once` is set, for this section. */
bool relock_own_once(struct relock_servicer *self, relock_mutex_t *mutex);

static inline uint32_t relock_served_by(const struct relock_server *server) {
  return RELOCK_WORD_SERVED + server->number;
}

static inline bool relock_own(struct relock_servicer *self, relock_mutex_t *mutex) {
  if (!relock_queue_may_pass(mutex))
    return false;
  /* Pairs with the exchange of a taker, after this thread's announcement. Acquire: pairs with the
   * release in relock_disown(). */
  if (RELOCK_LIKELY(relock_load_seq_cst(&mutex->relock_private.word) ==
                    relock_served_by(self->server)))
    return true;
  return relock_own_once(self, mutex);
}

/* After a section whose thread `owns_once`: keeps the word for the server or releases it. The mutex
 * is not touched afterwards. */
void relock_disown(struct relock_servicer *self, relock_mutex_t *mutex);

/* --- the pool (pool.c) ----------------------------------------------------------------------- */

/* Starts the first servicing thread. The caller has set the state to STARTING. */
bool relock_pool_start(struct relock_server *server);

/* A client has waited in vain: for a server that runs no sections, or for the end of its own. */
void relock_pool_report(struct relock_server *server);

/* By a servicing thread between sections while several are active: it sleeps while it is not
 * needed. False: it is to end. */
bool relock_pool_stay(struct relock_servicer *self);

/* This thread's section is about to sleep: another one is to serve meanwhile. */
void relock_pool_waits(struct relock_servicer *self);

/* The idle server retires. False: it cannot, as a section of another thread lasts. */
bool relock_pool_retire(struct relock_servicer *self);

/* --- the rebalancer (balance.c) -------------------------------------------------------------- */

/* Starts it if RELOCK_BALANCE asks for it. */
void relock_balance_as_told(void);

/* The process's first thread has ended; and in a forked child. */
void relock_balance_ends(void);
void relock_balance_after_fork(void);

/* --- servers (servers.c) --------------------------------------------------------------------- */

static inline struct relock_server *relock_server_of(const relock_mutex_t *mutex,
                                                     const relock_class_t *lock_class) {
  const uint8_t own = relock_load_relaxed(&mutex->relock_private.server);
  return &relock_servers[RELOCK_UNLIKELY(own) ? own - 1u
                                              : relock_load_relaxed(&lock_class->relock_server)];
}

/* Whether the server may start: false, after a message, if it was given a processor that it
 * cannot have. */
bool relock_server_may_start(struct relock_server *server);

/* The calling thread, which is one of the server's, goes where that belongs. */
enum relock_level { RELOCK_LEVEL_BACKUP, RELOCK_LEVEL_SERVICING, RELOCK_LEVEL_MANAGEMENT };
void relock_server_place_thread(struct relock_server *server, enum relock_level level);

#endif
