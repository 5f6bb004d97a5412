/* SPDX-License-Identifier: MIT
 *
 * The rebalancer: spreads the lock classes of servers over them while the program runs.
 *
 * What costs is false serialization: sections of different mutexes that wait for each other because
 * one server runs both. The thesis (section 5.3.5) looks for the assignment by hand: it runs the
 * program with a server for each lock, separates the locks with the highest use rates, spreads the
 * rest evenly, and finds that further servers cost little. Here the classes are given, at the end
 * of each period in which a server had passes with sections of several mutexes, to the servers
 * anew: the class with the most sections first, each to the server with the fewest so far (LPT,
 * Graham 1969). The assignment is changed only if that takes a sixth off the busiest server, so
 * that classes do not wander; a move costs each client one request to a server that has to fetch
 * the class's data.
 *
 * A thread of its own does this once it is asked for, ten times per second, or once while the
 * servers have nothing to do. It ends when the process's first thread has ended.
 */
#include "../base/counters.h"
#include "../base/guard.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"
#include "../locks/algorithm.h"
#include "client.h"
#include "server.h"

#include <errno.h>
#include <string.h>

enum { PERIOD_NS = 100000000, IDLE_PERIOD_NS = 1000000000 };

/* Fewer sections in a period are no load. */
enum { LEAST_SECTIONS = 1000 };

/* Of a hundred active passes, so many with several mutexes before anything is changed. */
enum { MIXED_PERCENT = 5 };

enum { MAX_BALANCED = 64 }; /* classes; those with fewer sections stay where they are */

static uint32_t servers_wanted; /* 0: no rebalancing; a futex */
static uint32_t thread_runs;

struct load {
  relock_class_t *lock_class;
  uint64_t sections;
  uint32_t server, new_server;
};

static uint64_t last_sections[RELOCK_MAX_CLASSES];

/* Sections of the class that other threads than those that asked have ever run: while it is a
 * server's, the server. */
static uint64_t sections_of(const relock_class_t *lock_class) {
  uint64_t sum[RELOCK_COUNTERS];
  relock_stats_add_up(lock_class->relock_index, sum);
  return sum[RELOCK_COUNT_DELEGATED];
}

/* Adds a class to those with the most sections, which come first. */
static unsigned insert(struct load *loads, unsigned count, struct load load) {
  if (count == MAX_BALANCED && loads[count - 1].sections >= load.sections)
    return count;
  unsigned at = count < MAX_BALANCED ? count++ : count - 1;
  for (; at > 0 && loads[at - 1].sections < load.sections; at--)
    loads[at] = loads[at - 1];
  loads[at] = load;
  return count;
}

/* The classes that the servers have worked for since the last call. Under the guard. */
static unsigned measure(struct load *loads, uint32_t servers) {
  unsigned count = 0;
  for (relock_class_t *c = relock_classes_first(); c; c = c->relock_next) {
    uint64_t now = sections_of(c), *last = &last_sections[c->relock_index];
    uint64_t sections = now > *last ? now - *last : 0;
    uint32_t server = relock_load_relaxed(&c->relock_server);
    *last = now;
    if (sections > 0 && server < servers && relock_load_relaxed(&c->relock_ops) == &relock_rcl)
      count = insert(loads, count, (struct load){c, sections, server, server});
  }
  return count;
}

/* Gives a class of rcl to another server; without effect on one that was moved meanwhile. Under the
 * guard, since the class could vanish. */
static void give_to_server(relock_class_t *lock_class, uint32_t server) {
  if (relock_load_relaxed(&lock_class->relock_ops) == &relock_rcl)
    relock_store_relaxed(&lock_class->relock_server, server);
}

static uint64_t busiest(const uint64_t *sections, uint32_t servers) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < servers; i++)
    most = sections[i] > most ? sections[i] : most;
  return most;
}

/* Chooses the new servers. True: they are worth the moves. */
static bool plan(struct load *loads, unsigned count, uint32_t servers) {
  uint64_t before[RELOCK_MAX_SERVERS] = {0}, after[RELOCK_MAX_SERVERS] = {0};
  for (unsigned i = 0; i < count; i++) {
    uint32_t least = loads[i].server; /* among equals it stays */
    for (uint32_t s = 0; s < servers; s++)
      if (after[s] < after[least])
        least = s;
    loads[i].new_server = least;
    after[least] += loads[i].sections;
    before[loads[i].server] += loads[i].sections;
  }
  return busiest(after, servers) < busiest(before, servers) * 5 / 6;
}

/* Whether a server had to run sections of several mutexes one after the other. */
static bool serializes_falsely(uint32_t servers) {
  static uint64_t last_active[RELOCK_MAX_SERVERS], last_mixed[RELOCK_MAX_SERVERS];
  bool found = false;
  for (uint32_t i = 0; i < servers; i++) {
    uint64_t active = 0, mixed = 0;
    uint32_t places = relock_load_relaxed(&relock_servers[i].places);
    for (uint32_t k = 0; k < places; k++) {
      active += relock_load_relaxed(&relock_servers[i].servicer[k].active_passes);
      mixed += relock_load_relaxed(&relock_servers[i].servicer[k].mixed_passes);
    }
    found |= (mixed - last_mixed[i]) * 100 > (active - last_active[i]) * MIXED_PERCENT;
    last_active[i] = active;
    last_mixed[i] = mixed;
  }
  return found;
}

/* False: there is nothing to do for now. With the guard of the list: a library with classes may be
 * closed at any time. */
static bool balance(uint32_t servers) {
  struct load loads[MAX_BALANCED];
  relock_guard_take(RELOCK_GUARD_CLASSES);
  unsigned count = measure(loads, servers);
  uint64_t total = 0;
  for (unsigned i = 0; i < count; i++)
    total += loads[i].sections;
  bool falsely = serializes_falsely(servers);
  if (falsely && total >= LEAST_SECTIONS && plan(loads, count, servers))
    for (unsigned i = 0; i < count; i++)
      if (loads[i].new_server != loads[i].server)
        give_to_server(loads[i].lock_class, loads[i].new_server);
  relock_guard_release(RELOCK_GUARD_CLASSES);
  return total > 0;
}

/* Who wants the rebalancer says so in `servers_wanted` and looks at `thread_runs`; a thread that
 * ends says so there and looks at `servers_wanted`. All sequentially consistent: one sees the
 * other. */
static void balance_while_wanted(void) {
  uint32_t servers;
  while ((servers = relock_load_seq_cst(&servers_wanted)) > 0) {
    uint64_t ns = relock_os->now_ns() + (balance(servers) ? PERIOD_NS : IDLE_PERIOD_NS);
    const struct timespec next = relock_time(ns);
    relock_os->futex_wait(&servers_wanted, servers, CLOCK_MONOTONIC, &next);
  }
}

static void *rebalance(void *unused) {
  do {
    balance_while_wanted();
    relock_exchange_seq_cst(&thread_runs, 0);
    /* It may have been asked for since: then by whoever finds that first. */
  } while (relock_load_seq_cst(&servers_wanted) > 0 && !relock_exchange_seq_cst(&thread_runs, 1));
  return unused;
}

int relock_servers_balance(unsigned servers) {
  if (servers > RELOCK_MAX_SERVERS)
    return EINVAL;
  relock_exchange_seq_cst(&servers_wanted, servers < 2 ? 0 : servers);
  relock_os->futex_wake(&servers_wanted, 1);
  if (servers < 2 || relock_exchange_seq_cst(&thread_runs, 1))
    return 0;
  int error = relock_os->start_thread(rebalance, NULL, "relock-balance");
  if (error)
    relock_exchange_seq_cst(&thread_runs, 0);
  return error;
}

static uint32_t option_used;

void relock_balance_as_told(void) {
  unsigned servers = relock_option_balance();
  /* Pairs with itself: one thread uses the option. */
  if (servers > 1 && !relock_exchange_seq_cst(&option_used, 1))
    relock_servers_balance(servers);
}

void relock_balance_ends(void) { relock_servers_balance(0); }

void relock_balance_after_fork(void) {
  servers_wanted = thread_runs = option_used = 0;
  memset(last_sections, 0, sizeof last_sections);
}
