/* SPDX-License-Identifier: MIT
 *
 * Barriers, and those of Reble's thesis (2015) as they are printed there: listings 3.4 (linear),
 * 3.5 (chaotic) and 3.6 (atomic increment), with sequentially consistent memory; waits sleep
 * instead of spinning.
 */
#include "scenarios.h"

#include "../../../runtime/base/options.h"
#include "../../../runtime/base/os.h"
#include "../../../runtime/collectives/barrier.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 2, BARRIERS = 3 };

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

static relock_barrier_t barrier[BARRIERS];
static int count;
static int came[ROUNDS][THREADS], serials[ROUNDS];
static uint32_t arrivals, total;

/* All but the round's number are ordered by the barrier alone. */
static void come(int id, int round) { came[round][id]++; }
static void all_came(int round) {
  for (int i = 0; i < count; i++)
    require(came[round][i] == 1, "a thread has passed before all had come");
}

static void begin(const char *algorithm, uint32_t fan_in, int threads, int of) {
  relock_barrier_choose(algorithm);
  relock_tuning.barrier_fan = fan_in;
  count = threads;
  memset(came, 0, sizeof came);
  memset(serials, 0, sizeof serials);
  arrivals = 2 * (uint32_t)of;
  total = 0;
  for (int i = 0; i < 2; i++)
    relock_barrier_init(&barrier[i], NULL, (unsigned)of);
}

/* --- rounds ---------------------------------------------------------------------------------- */

static bool is_serial(int which) {
  return relock_barrier_wait(&barrier[which]) == PTHREAD_BARRIER_SERIAL_THREAD;
}

static void do_rounds(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    come(id, round);
    if (is_serial(0))
      serials[round]++;
    all_came(round);
  }
}

static const char *one_serial_each(void) {
  for (int round = 0; round < ROUNDS; round++)
    if (serials[round] != 1)
      return "not one serial thread in a round";
  return NULL;
}

/* Two rounds of all threads but one, in which any of them may be. */
static void come_often(int id) {
  (void)id;
  for (;;) {
    uint32_t left = relock_load_relaxed(&arrivals);
    while (left > 0 && !relock_cas_relaxed(&arrivals, left, left - 1))
      left = relock_load_relaxed(&arrivals);
    if (left == 0)
      return;
    if (is_serial(0))
      relock_add_relaxed(&total, 1);
  }
}
static const char *two_serials(void) {
  const uint32_t nodes = barrier[0].relock_private.algorithm->nodes((uint32_t)count - 1);
  for (uint32_t i = 0; i < nodes; i++)
    if (barrier[0].relock_private.nodes[i].released != ROUNDS * RELOCK_BARRIER_ROUND)
      return "a node stays in an earlier round";
  return total == 2 ? NULL : "not one serial thread in a round";
}

/* Who is told so destroys the first barrier and makes the third one of its nodes, while others may
 * not have left it. They meet at the second one. */
static void destroy_at_once(int id) {
  if (is_serial(0)) {
    require(relock_barrier_destroy(&barrier[0]) == 0, "relock_barrier_destroy failed");
    free_memory(&barrier[0], sizeof barrier[0]);
    relock_barrier_init(&barrier[2], NULL, (unsigned)count);
  }
  is_serial(1);
  come(id, 0);
  if (is_serial(2))
    serials[0]++;
  all_came(0);
}
static const char *one_serial(void) { return serials[0] == 1 ? NULL : "not one serial thread"; }

/* --- as printed ------------------------------------------------------------------------------ */

static uint32_t flag[2][THREADS], gather[THREADS], release[THREADS], counter[2];

static uint32_t value_of(uint32_t *word) { return relock_load_seq_cst(word); }
static void set(uint32_t *word, uint32_t value) {
  relock_exchange_seq_cst(word, value);
  relock_os->futex_wake(word, THREADS);
}
static void wait_while(uint32_t *word, bool (*holds)(uint32_t value)) {
  for (uint32_t found; holds(found = value_of(word));)
    relock_os->futex_wait(word, found, CLOCK_MONOTONIC, NULL);
}
static bool is_set(uint32_t value) { return value != 0; }

static void linear(int id) {
  if (id == 0) {
    for (int i = 1; i < count; i++)
      wait_while(&gather[i], is_set);
    for (int i = 1; i < count; i++)
      set(&release[i], 1);
  } else {
    set(&gather[id], 1);
    wait_while(&release[id], is_set);
  }
}

static void chaotic(uint32_t *flags) {
  int step = 0;
  while (relock_exchange_seq_cst(&flags[step], 1))
    require(++step < count, "no flag is free");
  if (step == count - 1) {
    set(&flags[0], 0);
  } else {
    wait_while(&flags[step], is_set);
    set(&flags[step + 1], 0);
  }
}

static void increment(int phase, bool *master) {
  if (relock_add_seq_cst(&counter[phase], 1) == (uint32_t)count - 1)
    *master = true;
  if (*master)
    set(&counter[phase], 0);
  else
    wait_while(&counter[phase], is_set);
}

static void linear_printed(int id) {
  come(id, 0);
  linear(id);
  all_came(0);
}

static void chaotic_printed(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    come(id, round);
    chaotic(flag[0]);
    all_came(round);
  }
}

/* Flags of their own for even and odd rounds. */
static void chaotic_corrected(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    come(id, round);
    chaotic(flag[round]);
    all_came(round);
  }
}

static void increment_printed(int id) {
  bool master = false;
  for (int round = 0; round < ROUNDS; round++) {
    come(id, round);
    increment(round, &master);
    all_came(round);
  }
}

static void increment_corrected(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    bool master = false;
    come(id, round);
    increment(round, &master);
    all_came(round);
  }
}

static const char *nothing(void) { return NULL; }

/* --------------------------------------------------------------------------------------------- */

static void central_2(void) { begin("central", 2, 2, 2); }
static void central_3(void) { begin("central", 2, 3, 3); }
static void central_many(void) { begin("central", 2, 3, 2); }
static void backoff_2(void) { begin("backoff", 2, 2, 2); }
static void tree_2(void) { begin("tree", 2, 2, 2); }
static void tree_3(void) { begin("tree", 3, 3, 3); }
static void tree_uneven(void) { begin("tree", 2, 3, 3); }
static void tree_many(void) { begin("tree", 2, 4, 3); }

const struct scenario scenarios_of_barriers[] = {
    {"barrier-central", "two rounds of a barrier", 2, 0, central_2, do_rounds, one_serial_each},
    {"barrier-central-3", "the same with three threads", 3, 2, central_3, do_rounds,
     one_serial_each},
    {"barrier-central-many", "two rounds of two, for which three threads come", 3, 2, central_many,
     come_often, two_serials},
    {"barrier-central-destroy", "one that is destroyed, and made anew, at once", 2, 0, central_2,
     destroy_at_once, one_serial},
    {"barrier-backoff", "two rounds of a barrier", 2, 0, backoff_2, do_rounds, one_serial_each},
    {"barrier-tree", "two rounds of a barrier", 2, 0, tree_2, do_rounds, one_serial_each},
    {"barrier-tree-3", "the same with three threads in the root", 3, 2, tree_3, do_rounds,
     one_serial_each},
    {"barrier-tree-uneven", "the same with two of them in a leaf", 3, 2, tree_uneven, do_rounds,
     one_serial_each},
    {"barrier-tree-many", "two rounds of three, for which four threads come", 4, 3, tree_many,
     come_often, two_serials},
    {"barrier-tree-destroy", "one that is destroyed, and made anew, at once", 2, 1, tree_2,
     destroy_at_once, one_serial},
    {"barrier-tree-destroy-3", "the same with two of three threads in a leaf", 3, 3, tree_uneven,
     destroy_at_once, one_serial},
    {"printed-linear", "Reble's listing 3.4", 2, 0, central_2, linear_printed, nothing},
    {"printed-chaotic", "Reble's listing 3.5", 2, 0, central_2, chaotic_printed, nothing},
    {"chaotic-apart", "the same with other flags in every second round", 2, 0, central_2,
     chaotic_corrected, nothing},
    {"printed-increment", "Reble's listing 3.6", 2, 0, central_2, increment_printed, nothing},
    {"increment-reset", "the same, whose masters are those of one round", 2, 0, central_2,
     increment_corrected, nothing},
};
const int scenario_of_barriers_count = sizeof scenarios_of_barriers / sizeof *scenarios_of_barriers;
