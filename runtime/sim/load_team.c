/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#include "load_team.h"

#include "../collectives/barrier.h"
#include "buckets.h"
#include "pthread_barrier.h"

#include <relock/barriers.h>
#include <relock/teams.h>

#include <stdlib.h>
#include <string.h>

const char sim_team_names[] = "broadcast reduce reduce-all barrier-broadcast barrier-reduce "
                              "pthread-broadcast pthread-reduce";

enum { LINE = 128, MOST_NUMBERS = SIM_MAX_TEAM_LINES * 64 / sizeof(uint64_t) };

struct member {
  _Alignas(LINE) uint64_t operations;
  _Alignas(LINE) uint64_t number[MOST_NUMBERS];
};

enum what { BROADCAST, REDUCE, REDUCE_ALL };
enum how { BY_TEAM, BY_BARRIER, BY_PTHREAD };

static struct {
  unsigned members;
  size_t count; /* of numbers */
  enum what what;
  enum how how;
  struct member *member;
  bool wrong;
  _Alignas(LINE) relock_team_t team;
  _Alignas(LINE) relock_barrier_t barrier;
  _Alignas(LINE) struct sim_pthread_barrier pthread_barrier;
  _Alignas(LINE) uint64_t shared[MOST_NUMBERS];
} all;

void sim_team_start(const struct sim_load *load) {
  const char *name = load->lock;
  all.members = load->threads;
  all.count = load->lines > 0 ? (size_t)load->lines * 64 / sizeof(uint64_t) : 1;
  all.how = strncmp(name, "barrier-", 8) == 0   ? BY_BARRIER
            : strncmp(name, "pthread-", 8) == 0 ? BY_PTHREAD
                                                : BY_TEAM;
  name += all.how == BY_TEAM ? 0 : 8;
  all.what = strcmp(name, "broadcast") == 0 ? BROADCAST
             : strcmp(name, "reduce") == 0  ? REDUCE
                                            : REDUCE_ALL;
  all.member = aligned_alloc(LINE, load->threads * sizeof *all.member);
  all.pthread_barrier.count = load->threads;
  relock_barrier_choose(NULL);
  if (!all.member || relock_team_init(&all.team, load->threads) != 0 ||
      relock_barrier_init(&all.barrier, NULL, load->threads) != 0)
    abort();
  for (unsigned i = 0; i < load->threads; i++)
    memset(&all.member[i], 0, sizeof all.member[i]);
}

/* In a broadcast two, and as many as there may be roots. */
unsigned sim_team_most_ahead(const struct sim_load *load) { return 2 * load->threads + 8; }

/* --- books: they take no time ---------------------------------------------------------------- */

static SIM_BOOKS unsigned members(void) { return all.members; }
static SIM_BOOKS size_t count(void) { return all.count; }
static SIM_BOOKS enum what what(void) { return all.what; }
static SIM_BOOKS enum how how(void) { return all.how; }
static SIM_BOOKS uint64_t *numbers_of(unsigned member) { return all.member[member].number; }

static SIM_BOOKS unsigned root_now(unsigned member) {
  return (unsigned)((all.members - all.member[member].operations % all.members) % all.members);
}

static SIM_BOOKS uint64_t number_now(unsigned member, unsigned root) {
  const uint64_t sent = all.member[member].operations + 1;
  return all.what == BROADCAST ? (member == root ? sent : 0) : sent + member;
}

static SIM_BOOKS void check(unsigned member, unsigned root) {
  const uint64_t *number = all.member[member].number, n = all.members;
  const uint64_t sent = ++all.member[member].operations;
  const uint64_t sum = n * sent + n * (n - 1) / 2;
  if (all.what == BROADCAST || all.what == REDUCE_ALL || member == root)
    all.wrong |=
        number[0] != (all.what == BROADCAST ? sent : sum) || number[all.count - 1] != number[0];
}

/* --- operations ------------------------------------------------------------------------------ */

static void add(void *into, const void *from, size_t numbers) {
  for (size_t i = 0; i < numbers; i++)
    ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
}

/* A program has just written what it sends: nobody else has it in his cache. */
static void prepare(unsigned member, unsigned root) {
  uint64_t *number = numbers_of(member);
  const uint64_t value = number_now(member, root);
  for (size_t i = 0; i < count(); i++)
    number[i] = value;
}

static void by_team(unsigned member, unsigned root) {
  uint64_t *number = numbers_of(member);
  switch (what()) {
  case BROADCAST:
    relock_team_broadcast(&all.team, member, root, number, count() * sizeof *number);
    break;
  case REDUCE:
    relock_team_reduce(&all.team, member, root, number, count(), sizeof *number, add);
    break;
  case REDUCE_ALL:
    relock_team_reduce_all(&all.team, member, number, count(), sizeof *number, add);
    break;
  }
}

static void meet(void) {
  if (how() == BY_PTHREAD)
    sim_pthread_barrier_wait(&all.pthread_barrier);
  else
    relock_barrier_wait(&all.barrier);
}

/* The root reads what the others have. */
static void by_barrier(unsigned member, unsigned root) {
  uint64_t *number = numbers_of(member);
  const size_t bytes = count() * sizeof *number;
  if (what() == BROADCAST && member == root)
    memcpy(all.shared, number, bytes);
  meet();
  if (what() == BROADCAST && member != root)
    memcpy(number, all.shared, bytes);
  for (unsigned i = 0; what() == REDUCE && member == root && i < members(); i++)
    if (i != root)
      add(number, numbers_of(i), count());
  meet();
}

void sim_team_operate(unsigned member) {
  const unsigned root = root_now(member);
  if (what() != BROADCAST || member == root)
    prepare(member, root);
  if (how() == BY_TEAM)
    by_team(member, root);
  else
    by_barrier(member, root);
  check(member, root);
}

SIM_BOOKS bool sim_team_is_exact(void) { return !all.wrong; }
