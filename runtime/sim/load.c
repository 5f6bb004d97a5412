/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#include "load.h"

#include "../base/arch.h"
#include "../base/os.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../collectives/barrier.h"
#include "buckets.h"
#include "load_bare.h"
#include "load_containers.h"
#include "load_team.h"
#include "processors.h"
#include "pthread_barrier.h"

#include <relock/relock.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

static struct {
  _Alignas(LINE) relock_mutex_t mutex;
  struct {
    _Alignas(LINE) uint64_t value;
  } line[SIM_MAX_LINES];
  _Alignas(LINE) relock_class_t lock_class;
  const struct sim_load *load;
  uint64_t from, until; /* what is counted, in cycles */
  _Alignas(LINE) uint32_t arriving;
  _Alignas(LINE) uint32_t running;
  _Alignas(LINE) relock_barrier_t barrier;
  _Alignas(LINE) struct sim_pthread_barrier pthread_barrier;
} shared;

struct worker {
  _Alignas(LINE) uint64_t all, sections; /* all; the counted ones */
  uint64_t total, worst;
};
static struct worker *workers;

static uint64_t histogram[SIM_BUCKETS]; /* of latencies */
static uint64_t last;                   /* end of a counted section */
static uint64_t serials, last_round;    /* of a barrier; 0: not known yet */

/* Each line's address comes from the line before it, so that no processor could fetch them
 * together. */
static int section(void *unused) {
  (void)unused;
  uint64_t at = 0;
  for (unsigned i = 0; i < shared.load->lines; i++) {
    const uint64_t value = shared.line[at].value;
    shared.line[at].value = value + 1;
    at = i + 1 + (value >> 63);
  }
  return 0;
}

static SIM_BOOKS void count_serial(bool is_serial) { serials += is_serial; }

static void meet(void) {
  count_serial(shared.pthread_barrier.count
                   ? sim_pthread_barrier_wait(&shared.pthread_barrier)
                   : relock_barrier_wait(&shared.barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

/* worker: null for the first thread. */
static void operate(enum sim_mode mode, const struct worker *worker) {
  switch (mode) {
  case SIM_HOLD:
    relock_mutex_lock(&shared.mutex);
    section(NULL);
    relock_mutex_unlock(&shared.mutex);
    break;
  case SIM_EXECUTE:
    relock_execute(&shared.mutex, section, NULL);
    break;
  case SIM_ANY_THREAD:
    relock_execute_any_thread(&shared.mutex, section, NULL);
    break;
  case SIM_STORE:
    __atomic_store_n(&shared.line[0].value, 1, __ATOMIC_SEQ_CST);
    break;
  case SIM_SWAP: {
    uint64_t expected = 0;
    __atomic_compare_exchange_n(&shared.line[0].value, &expected, 0, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    break;
  }
  case SIM_BARRIER:
    meet();
    break;
  case SIM_BROADCAST: /* has threads of its own */
    break;
  case SIM_BARE:
    sim_bare_operate((unsigned)(worker - workers));
    break;
  case SIM_TEAM:
    sim_team_operate((unsigned)(worker - workers));
    break;
  case SIM_COUNTER:
  case SIM_STACK:
  case SIM_QUEUE:
  case SIM_TWO_LOCKS:
    sim_container_operate(worker ? (unsigned)(worker - workers) : shared.load->threads);
    break;
  }
}

/* The bookkeeping is not part of the program: it takes no time. */
static SIM_BOOKS void note(struct worker *worker, uint64_t before, uint64_t after) {
  worker->all++;
  if (after > shared.until)
    return;
  last = after > last ? after : last;
  const uint64_t latency = after - before;
  worker->sections++;
  worker->total += latency;
  worker->worst = latency > worker->worst ? latency : worker->worst;
  histogram[sim_bucket_of(latency)]++;
}

/* The first sections are for the records of threads, pages of memory and servers. Then all begin,
 * one after the other within a delay: they would meet at every section otherwise, or at none. */
static void begin_together(unsigned number) {
  enum { LATER = 100000, GO = 0, ALL_ARE_HERE = 1 }; /* cycles, until all have woken up */
  const struct sim_load *load = shared.load;
  if (__atomic_sub_fetch(&shared.arriving, 1, __ATOMIC_ACQ_REL) == ALL_ARE_HERE) {
    shared.from = relock_ticks() + LATER;
    shared.until = load->sections ? UINT64_MAX : shared.from + load->cycles;
    __atomic_store_n(&shared.arriving, GO, __ATOMIC_RELEASE);
    relock_os->futex_wake(&shared.arriving, INT32_MAX);
  }
  for (uint32_t left; (left = __atomic_load_n(&shared.arriving, __ATOMIC_ACQUIRE)) != GO;)
    relock_os->futex_wait(&shared.arriving, left, CLOCK_MONOTONIC, NULL);
  /* Neighbours are not each other's successors: fractions of the golden ratio. */
  const uint64_t part = number * UINT64_C(40503) % 65536;
  const uint64_t now = relock_ticks(), begin = shared.from + load->delay * part / 65536;
  sim_work(begin > now ? begin - now : 0);
}

/* All threads have as many rounds, or operations. */
static SIM_BOOKS bool has_rounds(void) {
  return shared.load->mode == SIM_BARRIER || shared.load->mode == SIM_TEAM;
}

/* Whether the thread has had its last round. The first one says which is the last before anybody
 * comes to that. */
static SIM_BOOKS bool had_last_round(const struct worker *worker, uint64_t now) {
  const struct sim_load *load = shared.load;
  const bool done = now >= shared.until || (load->sections && worker->all >= load->sections);
  if (worker == workers && done && last_round == 0)
    last_round = worker->all + 1 + (load->mode == SIM_TEAM ? sim_team_most_ahead(load) : 0);
  return last_round > 0 && worker->all >= last_round;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  const struct sim_load *load = shared.load;
  enum { FIRST = 3 };
  if (load->mode == SIM_BARE)
    sim_bare_join((unsigned)(worker - workers));
  for (int i = 0; i < FIRST; i++)
    operate(load->mode, worker);
  begin_together((unsigned)(worker - workers));
  for (uint64_t now = relock_ticks();
       has_rounds() ? !had_last_round(worker, now)
                    : now < shared.until && (!load->sections || worker->all < load->sections);) {
    operate(load->mode, worker);
    const uint64_t after = relock_ticks();
    note(worker, now, after);
    sim_work(load->delay);
    now = relock_ticks();
  }
  worker->all += FIRST;
  if (__atomic_sub_fetch(&shared.running, 1, __ATOMIC_ACQ_REL) == 0)
    relock_os->futex_wake(&shared.running, 1);
  return NULL;
}

static bool make_barrier(const struct sim_load *load) {
  if (strcmp(load->lock, "pthread") == 0) {
    shared.pthread_barrier.count = load->threads;
    return true;
  }
  relock_barrier_choose(strcmp(load->lock, "default") == 0 ? NULL : load->lock);
  return relock_barrier_init(&shared.barrier, NULL, load->threads) == 0;
}

void *sim_load_run(void *argument) {
  const struct sim_load *load = argument;
  relock_word_start(); /* before, there was no machine */
  relock_wait_calibrate();
  shared.load = load;
  shared.arriving = load->threads + 1;
  shared.running = load->threads;
  shared.lock_class.name = "simulated";
  const bool has_lock = load->mode <= SIM_ANY_THREAD ||
                        (sim_is_container(load->mode) && strcmp(load->lock, SIM_LOCK_FREE) != 0);
  shared.lock_class.algorithm = has_lock ? load->lock : NULL;
  workers = aligned_alloc(LINE, load->threads * sizeof *workers);
  if (!workers || relock_mutex_init(&shared.mutex, NULL, &shared.lock_class) != 0)
    abort();
  if (sim_is_container(load->mode))
    sim_containers_start(load, &shared.lock_class);
  if (load->mode == SIM_BARE)
    sim_bare_start(load);
  else if (load->mode == SIM_TEAM)
    sim_team_start(load);
  else if (load->mode != SIM_BARRIER)
    operate(load->mode, NULL);
  else if (!make_barrier(load))
    abort();
  for (unsigned i = 0; i < load->threads; i++) {
    workers[i] = (struct worker){0};
    if (!sim_thread_start(work, &workers[i], "worker", (int)(i % load->processors), false))
      abort();
  }
  for (uint32_t running; (running = __atomic_load_n(&shared.running, __ATOMIC_ACQUIRE)) > 0;)
    relock_os->futex_wait(&shared.running, running, CLOCK_MONOTONIC, NULL);
  return NULL;
}

bool sim_load_count(struct sim_counts *counts) {
  const struct sim_load *load = shared.load;
  uint64_t all = 1, below = 0;
  double sum = 0, squares = 0;
  *counts =
      (struct sim_counts){.jain = 1, .cycles = load->sections ? last - shared.from : load->cycles};
  for (unsigned i = 0; i < load->threads; i++) {
    const struct worker *worker = &workers[i];
    all += worker->all;
    counts->sections += worker->sections;
    counts->total += worker->total;
    counts->worst = worker->worst > counts->worst ? worker->worst : counts->worst;
    sum += (double)worker->sections;
    squares += (double)worker->sections * (double)worker->sections;
  }
  if (squares > 0)
    counts->jain = sum * sum / (load->threads * squares);
  for (unsigned i = 0; i < SIM_BUCKETS && below < counts->sections - counts->sections / 100; i++) {
    below += histogram[i];
    counts->p99 = sim_bucket_value(i);
  }
  if (counts->p99 > counts->worst)
    counts->p99 = counts->worst;
  if (load->mode == SIM_BARRIER)
    return serials * load->threads == all - 1;
  for (unsigned i = 0; i < load->lines && load->mode <= SIM_ANY_THREAD; i++)
    if (shared.line[i].value != all)
      return false;
  if (load->mode == SIM_BARE)
    return sim_bare_is_exact();
  if (load->mode == SIM_TEAM)
    return sim_team_is_exact();
  return !sim_is_container(load->mode) || sim_container_is_exact();
}
