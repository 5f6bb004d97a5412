/* SPDX-License-Identifier: MIT
 *
 * --teams: what an operation of a team takes whose threads do nothing else, and what programs do
 * instead: memory that all share between two rounds of a barrier, the C library's or the runtime's;
 * and what gcc makes of OpenMP, if libgomp is on the machine. In turns, as ratios to the C
 * library's of the same repetition. The root is another thread each time, the one that has the
 * message last in a tree.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "rounds.h"

#include "../collectives/barrier.h"

#include <relock/teams.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum what { BROADCAST, REDUCE, REDUCE_ALL, WHATS };
static const char *const names[] = {"broadcast", "reduce", "reduce-all"};

enum kind { PTHREAD, GOMP, BARRIER, TEAM, KINDS };
static const char *const kinds[] = {"pthread", "libgomp", "barrier", "team"};

enum { SUMS = 3 };

struct member {
  _Alignas(RELOCK_CACHE_LINE) uint64_t *numbers;
};

static struct {
  int threads;
  size_t count; /* of numbers in a message */
  enum what what;
  struct member *member;
  uint64_t *shared; /* SUMS of them */
  pthread_barrier_t pthread_one;
  relock_barrier_t relock_one;
  relock_team_t team;
} all;

static int root_of(unsigned long number) {
  const unsigned long threads = (unsigned long)all.threads;
  return (int)((threads - number % threads) % threads);
}

static void add(void *into, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((uint64_t *)into)[i] += ((const uint64_t *)from)[i];
}

static size_t bytes(void) { return all.count * sizeof(uint64_t); }

/* A program has just made what it sends. */
static void prepare(int member, unsigned long number) {
  if (all.what != BROADCAST || member == root_of(number))
    for (size_t i = 0; i < all.count; i++)
      all.member[member].numbers[i] = number + (all.what == BROADCAST ? 0 : (uint64_t)member);
}

static void check(int member, unsigned long number) {
  const uint64_t n = (uint64_t)all.threads;
  const uint64_t expected = all.what == BROADCAST ? number : n * number + n * (n - 1) / 2;
  if (all.what == REDUCE && member != root_of(number))
    return;
  if (all.member[member].numbers[0] != expected ||
      all.member[member].numbers[all.count - 1] != expected)
    fail(3, "a message of %zu bytes has arrived as another one", bytes());
}

/* --- ways to do it --------------------------------------------------------------------------- */

static void by_team(int member, unsigned long number) {
  uint64_t *numbers = all.member[member].numbers;
  prepare(member, number);
  const unsigned self = (unsigned)member, root = (unsigned)root_of(number);
  if (all.what == BROADCAST)
    relock_team_broadcast(&all.team, self, root, numbers, bytes());
  else if (all.what == REDUCE)
    relock_team_reduce(&all.team, self, root, numbers, all.count, sizeof *numbers, add);
  else
    relock_team_reduce_all(&all.team, self, numbers, all.count, sizeof *numbers, add);
  check(member, number);
}

/* One sends by memory of all; one reads what the others have; or one does, and then sends. */
static void by_barrier(int member, unsigned long number, void (*meet)(void)) {
  uint64_t *numbers = all.member[member].numbers;
  const bool is_root = member == root_of(number);
  prepare(member, number);
  if (all.what != BROADCAST) {
    meet();
    for (int i = 0; is_root && i < all.threads; i++)
      if (i != member)
        add(numbers, all.member[i].numbers, all.count);
  }
  if (all.what != REDUCE && is_root)
    memcpy(all.shared, numbers, bytes());
  meet();
  if (all.what != REDUCE && !is_root)
    memcpy(numbers, all.shared, bytes());
  if (all.what != REDUCE)
    meet();
  check(member, number);
}

static void meet_pthread(void) { pthread_barrier_wait(&all.pthread_one); }
static void meet_relock(void) { relock_barrier_wait(&all.relock_one); }
static void by_pthread(int member, unsigned long number) {
  by_barrier(member, number, meet_pthread);
}
static void by_relock(int member, unsigned long number) { by_barrier(member, number, meet_relock); }

/* `single copyprivate`, whose thread is whoever comes first; a reduction that each thread adds to
 * under the lock of atomic operations, as gcc makes of one of an array. */
static void by_gomp(int member, unsigned long number) {
  uint64_t *numbers = all.member[member].numbers;
  if (all.what == BROADCAST) {
    uint64_t *from = gomp.copy_start();
    if (!from) {
      for (size_t i = 0; i < all.count; i++)
        numbers[i] = number;
      gomp.copy_end(numbers);
    } else {
      memcpy(numbers, from, bytes());
    }
    gomp.barrier();
  } else {
    /* The next one is added to after this barrier, and was read before the one before. */
    uint64_t *sum = all.shared + number % SUMS * all.count;
    uint64_t *next = all.shared + (number + 1) % SUMS * all.count;
    prepare(member, number);
    gomp.atomic_start();
    add(sum, numbers, all.count);
    gomp.atomic_end();
    if (member == root_of(number))
      memset(next, 0, bytes());
    gomp.barrier();
    if (all.what == REDUCE_ALL || member == root_of(number))
      memcpy(numbers, sum, bytes());
  }
  check(member, number);
}

/* --- all ------------------------------------------------------------------------------------- */

static void make_members(int threads, size_t size) {
  all.threads = threads;
  all.count = size / sizeof(uint64_t);
  all.member = calloc((size_t)threads, sizeof *all.member);
  all.shared = calloc(SUMS * all.count, sizeof *all.shared);
  for (int i = 0; all.member && i < threads; i++)
    if (!(all.member[i].numbers = calloc(all.count, sizeof(uint64_t))))
      fail(2, "no memory");
  if (!all.member || !all.shared)
    fail(2, "no memory");
}

static void free_members(void) {
  for (int i = 0; i < all.threads; i++)
    free(all.member[i].numbers);
  free(all.member);
  free(all.shared);
}

static double measure_kind(enum kind kind, int milliseconds) {
  static void (*const rounds_of[KINDS])(int, unsigned long) = {by_pthread, by_gomp, by_relock,
                                                               by_team};
  struct rounds rounds = {.round = rounds_of[kind],
                          .threads = all.threads,
                          .milliseconds = milliseconds,
                          .ahead = kind == TEAM ? 2 * all.threads + 8 : 0,
                          .by_gomp = kind == GOMP};
  const unsigned threads = (unsigned)all.threads;
  memset(all.shared, 0, SUMS * bytes());
  if (pthread_barrier_init(&all.pthread_one, NULL, threads) != 0 ||
      relock_barrier_init(&all.relock_one, NULL, threads) != 0 ||
      relock_team_init(&all.team, threads) != 0)
    fail(2, "no memory");
  const double ns = measure_rounds(&rounds);
  pthread_barrier_destroy(&all.pthread_one);
  relock_barrier_destroy(&all.relock_one);
  relock_team_destroy(&all.team);
  return ns;
}

static void compare_kinds(const struct options *options, bool has_gomp) {
  static double ns[KINDS][MOST_REPETITIONS];
  for (int i = 0; i < options->repetitions; i++)
    for (int k = 0; k < KINDS; k++) {
      const int turn = i % 2 ? KINDS - 1 - k : k;
      if (turn != GOMP || has_gomp)
        ns[turn][i] = measure_kind((enum kind)turn, options->milliseconds);
    }
  for (int k = 0; k < KINDS; k++)
    if (k != GOMP || has_gomp)
      print_kind(kinds[k], ns[k], ns[PTHREAD], options->repetitions);
}

void compare_teams(const struct options *options) {
  const bool has_gomp = find_gomp();
  print_where();
  for (int t = 0; t < options->thread_values; t++)
    for (int b = 0; b < options->line_values; b++) {
      make_members(options->threads[t], (size_t)options->lines[b]);
      for (all.what = BROADCAST; all.what < WHATS; all.what++) {
        printf(
            "%d thread%s, %s of %d bytes, ns; as a part of pthread's, the median of %d and 95 %%\n",
            all.threads, all.threads == 1 ? "" : "s", names[all.what], options->lines[b],
            options->repetitions);
        compare_kinds(options, has_gomp);
        print_flush();
      }
      free_members();
    }
}
