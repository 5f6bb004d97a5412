/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#include "load.h"

#include "../base/arch.h"
#include "../base/os.h"
#include "processors.h"

#include <relock/relock.h>

#include <stdlib.h>

enum { LINE = 128 };

static struct {
  _Alignas(LINE) relock_mutex_t mutex;
  struct {
    _Alignas(LINE) uint64_t value;
  } line[SIM_MAX_LINES];
  _Alignas(LINE) relock_class_t lock_class;
  const struct sim_load *load;
  uint32_t running;
} shared;

struct worker {
  _Alignas(LINE) uint64_t all, sections; /* all; the counted ones */
  uint64_t total, worst;
};
static struct worker *workers;

/* Latencies in eighths of powers of two. */
enum { STEPS = 8, BUCKETS = 64 * STEPS };
static uint64_t histogram[BUCKETS];

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

static void operate(enum sim_mode mode) {
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
  }
}

static unsigned bucket_of(uint64_t latency) {
  if (latency < STEPS)
    return (unsigned)latency;
  const unsigned exponent = 63 - (unsigned)__builtin_clzll(latency);
  return exponent * STEPS + ((latency >> (exponent - 3)) & (STEPS - 1));
}

static uint64_t bucket_value(unsigned bucket) {
  if (bucket < STEPS)
    return bucket;
  return (uint64_t)(STEPS + bucket % STEPS) << (bucket / STEPS - 3);
}

/* The bookkeeping is not part of the program: it takes no time. */
static __attribute__((no_sanitize("thread"))) void note(struct worker *worker, uint64_t before,
                                                        uint64_t after) {
  const struct sim_load *load = shared.load;
  worker->all++;
  if (before < load->from || after > load->until)
    return;
  const uint64_t latency = after - before;
  worker->sections++;
  worker->total += latency;
  worker->worst = latency > worker->worst ? latency : worker->worst;
  histogram[bucket_of(latency)]++;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  const struct sim_load *load = shared.load;
  for (uint64_t now = relock_ticks(); now < load->until;) {
    operate(load->mode);
    const uint64_t after = relock_ticks();
    note(worker, now, after);
    sim_work(load->delay);
    now = relock_ticks();
  }
  if (__atomic_sub_fetch(&shared.running, 1, __ATOMIC_ACQ_REL) == 0)
    relock_os->futex_wake(&shared.running, 1);
  return NULL;
}

void *sim_load_run(void *argument) {
  const struct sim_load *load = argument;
  shared.load = load;
  shared.running = load->threads;
  shared.lock_class.name = "simulated";
  shared.lock_class.algorithm = load->lock;
  workers = aligned_alloc(LINE, load->threads * sizeof *workers);
  if (!workers || relock_mutex_init(&shared.mutex, NULL, &shared.lock_class) != 0)
    abort();
  operate(load->mode);
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
  *counts = (struct sim_counts){.jain = 1};
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
  for (unsigned i = 0; i < BUCKETS && below < counts->sections - counts->sections / 100; i++) {
    below += histogram[i];
    counts->p99 = bucket_value(i);
  }
  if (counts->p99 > counts->worst)
    counts->p99 = counts->worst;
  for (unsigned i = 0; i < load->lines; i++)
    if (shared.line[i].value != all)
      return false;
  return true;
}
