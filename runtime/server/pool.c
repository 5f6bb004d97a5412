/* SPDX-License-Identifier: MIT
 *
 * The servicing threads of a server, so that a section which blocks does not stop the others
 * (Lozi's thesis, section 4.1, algorithms 10 and 11). README.md explains who wakes whom.
 *
 * One servicing thread is enough as long as sections end; it is the only one that is active.
 * Clients that wait in vain wake the manager. If it finds every active thread in a section that
 * does not end, it activates another one. A thread that comes back from its section and finds
 * another that is free goes to sleep, prepared for the next time.
 *
 * Where the server's threads have SCHED_FIFO, all are bound to its processor: one that spins in
 * its section keeps the others from running. Then the manager, above them, gives the processor to
 * each in turn (an election), and the backup thread, below them, runs when all of them sleep, and
 * wakes the manager at once. Without the privilege the kernel does the first by itself, and the
 * clients' reports have to do for the second.
 */
#include "server.h"

#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "client.h"
#include "watchdog.h"

/* The manager, while it has something to do, looks this often: a section that lasts a few
 * milliseconds is given up for now; soon after that it looks less often. */
enum { TICK_NS = 2000000, SHORT_TICKS = 50, LONG_TICK_NS = 50000000 };

/* So many ticks in a row without a section that lasts, and the manager sleeps until a report. */
enum { QUIET_TICKS = 20 };

/* The backup thread lets the manager act for this long before it looks again. */
enum { BACKUP_NS = 1000000 };

/* END: it is to end, and sets NONE when it does. */
enum { MANAGER_NONE, MANAGER_ASLEEP, MANAGER_AWAKE, MANAGER_END };

static void lock_pool(struct relock_server *server) {
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  relock_word_wait(&server->pool_word, &wait, CLOCK_MONOTONIC, NULL);
}

static void unlock_pool(struct relock_server *server) { relock_word_release(&server->pool_word); }

static struct timespec in_ns(uint64_t ns) { return relock_time(relock_os->now_ns() + ns); }

static bool is_active(const struct relock_servicer *servicer) {
  return relock_load_relaxed(&servicer->state) == RELOCK_SERVICER_ACTIVE;
}

static bool is_in_section(const struct relock_servicer *servicer) {
  /* Pairs with announce(), servicing.c. */
  uint32_t announced = relock_load_seq_cst(&servicer->announced);
  return announced != 0 && relock_slot_is_pending(
                               relock_load_relaxed(&servicer->server->slots[announced - 1]->state));
}

/* --- who serves ------------------------------------------------------------------------------ */

/* All under the pool's word. */

static bool somebody_is_free(const struct relock_server *server,
                             const struct relock_servicer *but) {
  for (uint32_t i = 0; i < server->places; i++) {
    const struct relock_servicer *each = &server->servicer[i];
    if (each != but && is_active(each) && !is_in_section(each))
      return true;
  }
  return false;
}

/* Sequentially consistent: whoever finds itself alone afterwards, see serve(), has announced its
 * request before, and the new thread looks at that. */
static void change_active(struct relock_server *server, uint32_t active) {
  const bool were_several = server->active > 1;
  relock_exchange_seq_cst(&server->active, active);
  if (were_several != (active > 1))
    relock_add_seq_cst(&server->unusual, were_several ? (uint32_t)-1 : 1);
  if (active > 1)
    relock_await_announcements();
}

static bool start_servicer(struct relock_server *server, struct relock_servicer *servicer) {
  uint32_t number = (uint32_t)(servicer - server->servicer);
  if (servicer->server != server) /* once: it is read while its thread is another one */
    servicer->server = server;
  relock_store_relaxed(&servicer->announced, 0);
  relock_store_relaxed(&servicer->runs_under, NULL);
  relock_store_relaxed(&servicer->tid, 0);
  relock_store_relaxed(&servicer->state, RELOCK_SERVICER_ACTIVE);
  if (number >= server->places)
    relock_exchange_seq_cst(&server->places, number + 1);
  change_active(server, server->active + 1);
  if (relock_os->start_thread(relock_servicing_thread, servicer, "relock-server") == 0)
    return true;
  change_active(server, server->active - 1);
  relock_store_relaxed(&servicer->state, RELOCK_SERVICER_NONE);
  return false;
}

/* A prepared thread, or a new one. */
static bool activate(struct relock_server *server) {
  struct relock_servicer *none = NULL;
  for (uint32_t i = 0; i < RELOCK_POOL; i++) {
    struct relock_servicer *each = &server->servicer[i];
    /* Acquire: pairs with the release at the end of relock_servicing_thread(). */
    uint32_t state = relock_load_acquire(&each->state);
    if (state == RELOCK_SERVICER_PREPARED) {
      change_active(server, server->active + 1);
      /* Release: pairs with the acquire in sleep_prepared(). */
      relock_store_release(&each->state, RELOCK_SERVICER_ACTIVE);
      relock_os->futex_wake(&each->state, 1);
      return true;
    }
    if (state == RELOCK_SERVICER_NONE && !none)
      none = each;
  }
  return none && start_servicer(server, none);
}

static void activate_unless_free(struct relock_server *server) {
  if (!somebody_is_free(server, NULL) && activate(server))
    relock_count_own(&server->activations, 1);
}

/* --- servicing threads ----------------------------------------------------------------------- */

static bool sleep_prepared(struct relock_servicer *self) {
  const bool counts = relock_load_relaxed(&self->record) != NULL;
  if (counts)
    relock_thread_rests(true);
  for (;;) {
    /* Acquire: pairs with the releases in activate() and relock_pool_retire(). */
    uint32_t state = relock_load_acquire(&self->state);
    if (state != RELOCK_SERVICER_PREPARED) {
      if (counts)
        relock_thread_rests(false);
      return state == RELOCK_SERVICER_ACTIVE;
    }
    relock_os->futex_wait(&self->state, RELOCK_SERVICER_PREPARED, CLOCK_MONOTONIC, NULL);
  }
}

bool relock_pool_stay(struct relock_servicer *self) {
  struct relock_server *server = self->server;
  lock_pool(server);
  bool leaves = somebody_is_free(server, self);
  if (leaves) {
    relock_store_relaxed(&self->state, RELOCK_SERVICER_PREPARED);
    change_active(server, server->active - 1);
  }
  unlock_pool(server);
  return !leaves || sleep_prepared(self);
}

void relock_pool_waits(struct relock_servicer *self) {
  lock_pool(self->server);
  activate_unless_free(self->server);
  unlock_pool(self->server);
}

/* Under the pool's word, as start_manager(). Pairs with sleep_until_reported() and manage(). */
static void end_manager(struct relock_server *server) {
  if (relock_load_seq_cst(&server->manager) == MANAGER_NONE)
    return;
  relock_exchange_seq_cst(&server->manager, MANAGER_END);
  relock_os->futex_wake(&server->manager, 1);
}

bool relock_pool_retire(struct relock_servicer *self) {
  struct relock_server *server = self->server;
  lock_pool(server);
  bool retires = server->active == 1;
  if (retires) {
    for (uint32_t i = 0; i < server->places; i++) {
      struct relock_servicer *each = &server->servicer[i];
      if (relock_load_relaxed(&each->state) != RELOCK_SERVICER_PREPARED)
        continue;
      /* Release: pairs with the acquire in sleep_prepared(). */
      relock_store_release(&each->state, RELOCK_SERVICER_ENDING);
      relock_os->futex_wake(&each->state, 1);
    }
    relock_store_relaxed(&self->state, RELOCK_SERVICER_ENDING);
    change_active(server, 0);
    /* Release: what this server has written comes before what the next one writes. */
    relock_store_release(&server->state, RELOCK_SERVER_NONE);
    end_manager(server);
    relock_os->futex_wake(&server->asleep, INT32_MAX);
  }
  unlock_pool(server);
  return retires;
}

void relock_pool_thread_ends(struct relock_thread *record) {
  struct relock_server *server = record->rcl_serves;
  lock_pool(server);
  for (uint32_t i = 0; i < server->places; i++) {
    struct relock_servicer *each = &server->servicer[i];
    if (relock_load_relaxed(&each->record) != record)
      continue;
    /* It stays one of the active: nobody is alone with its request. */
    relock_store_relaxed(&each->state, RELOCK_SERVICER_LOST);
    relock_watchdog_lost(each);
    activate_unless_free(server);
  }
  unlock_pool(server);
}

/* --- the manager ----------------------------------------------------------------------------- */

/* Gives the processor to the thread that has not had it for longest: all others go behind it in
 * the queue of their priority. */
static void elect(struct relock_server *server) {
  struct relock_servicer *elected = NULL;
  uint32_t places = relock_load_relaxed(&server->places);
  for (uint32_t i = 0; i < places; i++) {
    struct relock_servicer *each = &server->servicer[i];
    if (is_active(each) && (!elected || each->elected < elected->elected))
      elected = each;
  }
  if (elected)
    elected->elected = ++server->elections;
  for (uint32_t i = 0; i < places; i++) {
    struct relock_servicer *each = &server->servicer[i];
    int tid = relock_load_relaxed(&each->tid);
    if (each != elected && is_active(each) && tid) /* 0: it is new, and behind the others anyway */
      relock_os->requeue(tid, RELOCK_LEVEL_SERVICING);
  }
}

/* True: a section lasts. */
static bool look_after(struct relock_server *server, struct relock_stay stays[RELOCK_POOL]) {
  bool lasting = false, all_last = true;
  /* Sequentially consistent: pairs with start_servicer(), whose place is ready before. */
  uint32_t places = relock_load_seq_cst(&server->places);
  for (uint32_t i = 0; i < places; i++) {
    bool lasts = relock_watchdog_look(&server->servicer[i], &stays[i]);
    lasting |= lasts;
    all_last &= lasts || !is_active(&server->servicer[i]);
  }
  if (!lasting)
    return false;
  if (all_last) {
    lock_pool(server);
    if (server->active > 0)
      activate_unless_free(server);
    unlock_pool(server);
  }
  if (server->realtime && relock_load_relaxed(&server->active) > 1)
    elect(server);
  return true;
}

/* Until there is a report. False: the server has retired. */
static bool sleep_until_reported(struct relock_server *server) {
  uint32_t state;
  while ((state = relock_load_seq_cst(&server->manager)) == MANAGER_ASLEEP)
    relock_os->futex_wait(&server->manager, MANAGER_ASLEEP, CLOCK_MONOTONIC, NULL);
  return state == MANAGER_AWAKE;
}

/* A report that came before this may have found the manager awake. */
static void go_to_sleep(struct relock_server *server) {
  if (relock_cas_seq_cst(&server->manager, MANAGER_AWAKE, MANAGER_ASLEEP) &&
      relock_load_seq_cst(&server->reported))
    relock_cas_seq_cst(&server->manager, MANAGER_ASLEEP, MANAGER_AWAKE);
}

static void tick(struct relock_server *server, unsigned ticks) {
  struct timespec next = in_ns(ticks > SHORT_TICKS ? LONG_TICK_NS : TICK_NS);
  relock_os->futex_wait(&server->manager, MANAGER_AWAKE, CLOCK_MONOTONIC, &next);
}

static void *manage(void *argument) {
  struct relock_server *server = argument;
  struct relock_stay stays[RELOCK_POOL] = {{0}};
  relock_server_place_thread(server, RELOCK_LEVEL_MANAGEMENT);
  for (;;) {
    if (!sleep_until_reported(server)) {
      /* Pairs with start_manager(), which may come first. */
      if (relock_cas_seq_cst(&server->manager, MANAGER_END, MANAGER_NONE))
        return NULL;
      continue; /* the server was started again meanwhile */
    }
    unsigned quiet = 0;
    for (unsigned ticks = 0; quiet < QUIET_TICKS; ticks++) {
      relock_count_own(&server->manager_wakes, 1);
      relock_exchange_seq_cst(&server->reported, 0);
      quiet = look_after(server, stays) ? 0 : quiet + 1;
      tick(server, ticks);
      /* Pairs with end_manager(). */
      if (relock_load_seq_cst(&server->manager) == MANAGER_END)
        break;
    }
    go_to_sleep(server);
  }
}

/* Under the pool's word, as end_manager(): a server that has retired by then would leave a manager
 * that nobody ends. Where it cannot be started, clients withdraw all the same. It begins awake, as
 * there may have been reports already. */
static void start_manager(struct relock_server *server) {
  if (!relock_cas_seq_cst(&server->manager, MANAGER_END, MANAGER_AWAKE) &&
      relock_cas_seq_cst(&server->manager, MANAGER_NONE, MANAGER_AWAKE) &&
      relock_os->start_thread(manage, server, "relock-manager") != 0)
    relock_exchange_seq_cst(&server->manager, MANAGER_NONE);
}

static bool somebody_is_in_section(const struct relock_server *server) {
  uint32_t places = relock_load_relaxed(&server->places);
  for (uint32_t i = 0; i < places; i++)
    if (is_in_section(&server->servicer[i]))
      return true;
  return false;
}

/* A server that is in no section is not scheduled; its manager would not be either. Touches no
 * thread-local variable: the caller's section may be running with its identity. */
void relock_pool_report(struct relock_server *server) {
  if (relock_load_relaxed(&server->reported) || !somebody_is_in_section(server))
    return;
  relock_exchange_seq_cst(&server->reported, 1);
  if (relock_load_seq_cst(&server->manager) == MANAGER_ASLEEP &&
      relock_cas_seq_cst(&server->manager, MANAGER_ASLEEP, MANAGER_AWAKE))
    relock_os->futex_wake(&server->manager, 1);
}

/* --- the backup thread ----------------------------------------------------------------------- */

/* Runs when the servicing threads do not. They sleep because there is nothing to do, or in their
 * sections. */
static void *back_up(void *argument) {
  struct relock_server *server = argument;
  relock_server_place_thread(server, RELOCK_LEVEL_BACKUP);
  while (relock_load_seq_cst(&server->state) != RELOCK_SERVER_NONE) {
    if (relock_load_seq_cst(&server->asleep)) {
      relock_os->futex_wait(&server->asleep, 1, CLOCK_MONOTONIC, NULL);
      continue;
    }
    relock_pool_report(server);
    struct timespec next = in_ns(BACKUP_NS);
    relock_os->futex_wait(&server->asleep, 0, CLOCK_MONOTONIC, &next);
  }
  return NULL;
}

bool relock_pool_start(struct relock_server *server) {
  lock_pool(server);
  bool started = activate(server);
  if (started)
    start_manager(server);
  unlock_pool(server);
  if (started && server->realtime)
    relock_os->start_thread(back_up, server, "relock-backup");
  return started;
}
