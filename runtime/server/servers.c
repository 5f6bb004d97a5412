/* SPDX-License-Identifier: MIT
 *
 * The servers: where they run, their statistics, and what becomes of them in a forked child and
 * when the process's first thread ends.
 *
 * A process ends with its last own thread. A server that sleeps keeps it alive only as long as the
 * first thread lives, whose end ends the process anyhow unless it was by pthread_exit. From then on
 * an idle server retires after a while, and the next use starts another. So when the program's own
 * threads are gone, the last server is the last thread, and its end makes the C library call
 * exit(0). The first thread clears `relock_first_thread_lives` and then looks at `asleep`, as
 * clients do. Requests that a server leaves behind are withdrawn, as from one that is not
 * scheduled.
 */
#include "server.h"

#include "../base/guard.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../base/word.h"
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct relock_server relock_servers[RELOCK_MAX_SERVERS];
uint32_t relock_servers_end;

uint32_t relock_first_thread_lives;

/* --- where they run -------------------------------------------------------------------------- */

/* What relock_server_place() was told: one more than the processor, 0 for any. */
static uint32_t places[RELOCK_MAX_SERVERS];

int relock_server_place(unsigned server, int cpu) {
  if (server < 1 || server > RELOCK_MAX_SERVERS || cpu < -1 || cpu >= RELOCK_MAX_CPUS)
    return EINVAL;
  if (relock_option_server_cpu(server) == RELOCK_CPU_NOT_GIVEN)
    relock_store_relaxed(&places[server - 1], (uint32_t)(cpu + 1));
  uint32_t *state = &relock_servers[server - 1].state;
  relock_cas_relaxed(state, RELOCK_SERVER_REFUSED, RELOCK_SERVER_NONE); /* it may try again */
  return relock_load_relaxed(state) == RELOCK_SERVER_NONE ? 0 : EBUSY;
}

static int wanted_cpu(unsigned number) {
  int option = relock_option_server_cpu(number + 1);
  return option != RELOCK_CPU_NOT_GIVEN ? option : (int)relock_load_relaxed(&places[number]) - 1;
}

/* Processors that servers have for themselves. Under RELOCK_GUARD_PROCESSORS: two servers that
 * start at the same time must not both get the last processor but one. */
static unsigned dedicated(void) {
  unsigned count = 0;
  for (uint32_t i = 0; i < relock_load_relaxed(&relock_servers_end); i++) {
    uint32_t state = relock_load_relaxed(&relock_servers[i].state);
    count += (state == RELOCK_SERVER_STARTING || state == RELOCK_SERVER_RUNNING) &&
             relock_servers[i].slots && relock_servers[i].cpu >= 0;
  }
  return count;
}

static void extend_servers(uint32_t number) {
  uint32_t end = relock_load_relaxed(&relock_servers_end);
  while (end <= number && !relock_cas_relaxed(&relock_servers_end, end, number + 1))
    end = relock_load_relaxed(&relock_servers_end);
}

/* Null: it can. Under the guard. */
static const char *why_not(int cpu) {
  if (!relock_os->may_use_cpu((unsigned)cpu))
    return "this process may not use it, or it does not exist";
  return relock_os->cpus() < dedicated() + 2 ? "no processor would be left for the program" : NULL;
}

/* Under the guard. */
static bool give_cpu(struct relock_server *server) {
  relock_store_relaxed(&server->cpu, -1);
  relock_store_relaxed(&server->realtime, 0);
  if (!server->slots) {
    server->homed = false;
    /* Release: pairs with the acquires in manners.c and relock_server_statistics(). */
    relock_store_release(&server->slots, relock_os->reserve(RELOCK_SLOTS * sizeof *server->slots));
  }
  if (!server->slots)
    return false;
  extend_servers(server->number);
  int cpu = wanted_cpu(server->number);
  if (cpu < 0)
    return true;
  const char *why = why_not(cpu);
  if (why) {
    relock_say("server %u: processor %d is not given to it: %s; its lock classes are combined "
               "instead (algorithm adaptive) [server-refused]",
               server->number + 1, cpu, why);
    return false;
  }
  relock_store_relaxed(&server->cpu, cpu);
  relock_store_relaxed(&server->realtime,
                       relock_tuning.server_fifo && relock_os->may_be_realtime());
  if (relock_tuning.server_fifo && !server->realtime)
    relock_say("server %u: its threads may not have SCHED_FIFO, and share processor %d with others "
               "on equal terms; allow it by CAP_SYS_NICE or RLIMIT_RTPRIO [server-degraded]",
               server->number + 1, cpu);
  return true;
}

bool relock_server_may_start(struct relock_server *server) {
  if (server->number != relock_server_number(server)) /* once: clients read it all the time */
    server->number = relock_server_number(server);
  relock_words_served_by(&relock_served);
  relock_balance_as_told();
  relock_guard_take(RELOCK_GUARD_PROCESSORS);
  bool may = give_cpu(server);
  relock_guard_release(RELOCK_GUARD_PROCESSORS);
  return may;
}

void relock_server_place_thread(struct relock_server *server, enum relock_level level) {
  if (server->cpu < 0)
    return;
  if (server->realtime) /* first: bound, it would not get past a servicing thread that is busy */
    relock_os->make_realtime((unsigned)level);
  relock_os->pin((unsigned)server->cpu);
}

/* --- the life of the process ----------------------------------------------------------------- */

void relock_servers_first_thread(bool lives) {
  relock_exchange_seq_cst(&relock_first_thread_lives, lives);
  for (uint32_t i = 0; i < relock_load_relaxed(&relock_servers_end) && !lives; i++)
    relock_server_wake(&relock_servers[i]);
  if (!lives)
    relock_balance_ends();
}

/* A child's memory is not that of one moment: pages are copied one after the other while the other
 * threads run on. So that a section which has begun is either over or known, none begins while a
 * thread forks, those that run are awaited for a while, and the rest are noted. */
enum { FORK_PATIENCE_NS = 1000000 };
uint32_t relock_forking;
static relock_mutex_t *in_section[RELOCK_MAX_SERVERS * RELOCK_POOL];

/* Pairs with announce(), servicing.c, and with fill(), client.c. */
static relock_mutex_t *section_of(const struct relock_servicer *servicer) {
  uint32_t announced = relock_load_seq_cst(&servicer->announced);
  relock_mutex_t *mutex =
      announced ? relock_load_acquire(&servicer->server->slots[announced - 1]->mutex) : NULL;
  return mutex && relock_runs_under(servicer, mutex) ? mutex : NULL;
}

/* Sequentially consistent: pairs with the looks at `relock_forking` behind an announcement,
 * servicing.c; `places` with start_servicer(), pool.c. */
void relock_servers_before_fork(void) {
  relock_exchange_seq_cst(&relock_forking, 1);
  relock_await_announcements();
  uint64_t start = relock_os->now_ns();
  for (uint32_t i = 0; i < relock_load_relaxed(&relock_servers_end); i++) {
    struct relock_server *server = &relock_servers[i];
    uint32_t end = relock_load_seq_cst(&server->places);
    for (uint32_t k = 0; k < RELOCK_POOL; k++) {
      relock_mutex_t **noted = &in_section[i * RELOCK_POOL + k];
      while ((*noted = k < end ? section_of(&server->servicer[k]) : NULL) &&
             relock_os->now_ns() - start < FORK_PATIENCE_NS)
        relock_os->yield();
    }
  }
}

/* Pairs with the same looks. */
void relock_servers_after_fork_in_parent(void) { relock_exchange_seq_cst(&relock_forking, 0); }

/* In new memory: what the parent's threads have written to the old one may be of any moment. */
static void forget_server(struct relock_server *server) {
  for (uint32_t i = 0; i < RELOCK_POOL; i++)
    memset(&server->servicer[i], 0, sizeof server->servicer[i]);
  memset(server->client_sleeps, 0, sizeof server->client_sleeps);
  server->slots = NULL;
  server->active = server->places = server->asleep = server->unusual = 0;
  server->pool_word = server->manager = server->reported = 0;
  server->manager_wakes = server->activations = server->parks = 0;
  server->progress = (struct relock_progress){0, 0};
  if (server->state != RELOCK_SERVER_REFUSED)
    server->state = RELOCK_SERVER_NONE;
}

void relock_servers_after_fork(void) {
  /* Nobody comes back from these sections here: the mutex stays locked, as any that a thread of the
   * parent held. */
  for (uint32_t i = 0; i < sizeof in_section / sizeof *in_section; i++)
    if (in_section[i] && in_section[i]->relock_private.word >= RELOCK_WORD_SERVED)
      in_section[i]->relock_private.word = RELOCK_WORD_HELD;
  for (uint32_t i = 0; i < RELOCK_MAX_SERVERS; i++)
    if (relock_servers[i].slots || relock_servers[i].state == RELOCK_SERVER_STARTING)
      forget_server(&relock_servers[i]);
  relock_clients_after_fork();
  relock_balance_after_fork();
  relock_forking = 0;
}

/* --- statistics ------------------------------------------------------------------------------ */

int relock_server_statistics(unsigned server, relock_server_statistics_t *statistics) {
  if (server < 1 || server > RELOCK_MAX_SERVERS)
    return EINVAL;
  const struct relock_server *of = &relock_servers[server - 1];
  *statistics = (relock_server_statistics_t){
      /* Acquire: pairs with the release in give_cpu(). */
      .cpu = relock_load_acquire(&of->slots) ? relock_load_relaxed(&of->cpu) : -1,
      .realtime = relock_load_relaxed(&of->realtime),
      .threads = relock_load_relaxed(&of->active),
      .clients = relock_load_relaxed(&relock_clients),
      .passes = relock_load_relaxed(&of->progress.passes),
      .manager_wakes = relock_load_relaxed(&of->manager_wakes),
      .activations = relock_load_relaxed(&of->activations),
      .sleeps = relock_load_relaxed(&of->parks),
  };
  uint32_t end = relock_load_relaxed(&of->places);
  uint64_t client_passes = 0, mixed = 0, slow = 0;
  for (uint32_t i = 0; i < end; i++) {
    const struct relock_servicer *each = &of->servicer[i];
    statistics->sections += relock_load_relaxed(&each->sections);
    statistics->active_passes += relock_load_relaxed(&each->active_passes);
    statistics->cache_misses += relock_load_relaxed(&each->misses);
    statistics->cache_misses += relock_os->read_counter(relock_load_relaxed(&each->miss_counter));
    client_passes += relock_load_relaxed(&each->client_passes);
    mixed += relock_load_relaxed(&each->mixed_passes);
    slow += relock_load_relaxed(&each->slow);
  }
  if (client_passes > 0)
    statistics->use_rate = (double)statistics->sections / (double)client_passes;
  if (statistics->active_passes > 0)
    statistics->false_serialization = (double)mixed / (double)statistics->active_passes;
  if (statistics->sections > 0)
    statistics->slow_rate = (double)slow / (double)statistics->sections;
  return 0;
}
