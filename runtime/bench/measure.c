/* SPDX-License-Identifier: MIT
 *
 * One repetition of one row. Each thread in turn performs its operation on the lock and spins for
 * a number of cycles. The operation adds 1 to each of some cache lines, 128 bytes apart: hardware
 * fetches lines in pairs.
 *
 * What is in a latency. The counter is read before and after each operation, for every row alike,
 * and nothing is subtracted: an empty operation reads about 18 ns on the machine of the README.
 * A reading waits for what was done before it: else a processor would begin the delay while the
 * lock's line is still under way.
 * The delay counts from the second reading, so that the bookkeeping falls into it.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "../base/word.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Log-linear: 32 buckets for each power of two, so that a percentile is off by at most 3%. */
enum { STEP_BITS = 5, STEPS = 1 << STEP_BITS, BUCKETS = (64 - STEP_BITS + 1) * STEPS };
enum { LINE = 128, PATIENCE_SECONDS = 60 };

struct line {
  _Alignas(LINE) long value;
};

struct worker {
  _Alignas(LINE) uint64_t operations;
  uint64_t start, end; /* ticks */
  uint64_t total, worst;
  const struct row *row;
  uint64_t delay; /* ticks */
  int number;
  int length;       /* cycles of its sections */
  uint64_t service; /* ticks that they took; by whoever runs them */
  uint32_t histogram[BUCKETS];
};

/* Written between repetitions only, but for the locks and the stop flag. */
static struct {
  _Alignas(LINE) relock_mutex_t mutex;
  _Alignas(LINE) pthread_mutex_t pthread;
  _Alignas(LINE) struct line line[MAX_LINES];
  _Alignas(LINE) int stop;
  _Alignas(LINE) int lines;
  void *other;
  pthread_barrier_t start;
} shared;

static bool pinning;
static int milliseconds;
static const int *lengths;
static int length_count;
static cpu_set_t allowed;
static int cpus[CPU_SETSIZE], cpu_count;
static struct worker *workers;
static pthread_t *threads;
static char current[200]; /* for the message of the watchdog */
static size_t current_length;

static int increment(void *context) {
  struct line *line = context;
  for (int i = 0; i < shared.lines; i++)
    line[i].value++;
  return 0;
}

static int serve(void *context) {
  struct worker *worker = context;
  const uint64_t start = relock_ticks();
  increment(shared.line);
  spend_cycles(worker->length);
  worker->service += relock_ticks() - start;
  return 0;
}

/* For a worker with sections of its own, or null. */
static inline __attribute__((always_inline)) void operate(const struct row *row, enum way way,
                                                          int thread, struct worker *worker) {
  const relock_section_t section = worker ? serve : increment;
  void *context = worker ? (void *)worker : (void *)shared.line;
  switch (way) {
  case WAY_HOLD:
    relock_mutex_lock(&shared.mutex);
    section(context);
    relock_mutex_unlock(&shared.mutex);
    break;
  case WAY_EXECUTE:
    relock_execute(&shared.mutex, section, context);
    break;
  case WAY_ANY_THREAD:
    relock_execute_any_thread(&shared.mutex, section, context);
    break;
  case WAY_PTHREAD:
    pthread_mutex_lock(&shared.pthread);
    section(context);
    pthread_mutex_unlock(&shared.pthread);
    break;
  case WAY_FETCH_AND_ADD:
    __atomic_fetch_add(&shared.line[0].value, 1, __ATOMIC_RELAXED);
    break;
  case WAY_OTHER:
    row->other->execute(shared.other, thread, section, context);
    break;
  }
}

static unsigned bucket_of(uint64_t value) {
  if (value < STEPS)
    return (unsigned)value;
  unsigned exponent = 63 - (unsigned)__builtin_clzll(value);
  return ((exponent - STEP_BITS + 1) << STEP_BITS) +
         ((value >> (exponent - STEP_BITS)) & (STEPS - 1));
}

/* The middle of a bucket. */
static double bucket_value(unsigned bucket) {
  if (bucket < STEPS)
    return bucket;
  unsigned shift = (bucket >> STEP_BITS) - 1;
  uint64_t low = (uint64_t)(STEPS + (bucket & (STEPS - 1))) << shift;
  return (double)low + (double)((uint64_t)1 << shift) / 2;
}

/* One copy for each way, so that no row pays for the choice. */
static inline __attribute__((always_inline)) void loop(struct worker *worker, enum way way,
                                                       bool serves) {
  const struct row *row = worker->row;
  const uint64_t delay = worker->delay;
  uint64_t operations = 0, total = 0, worst = 0;
  worker->start = relock_ticks();
  do {
    uint64_t before = relock_ticks();
    operate(row, way, worker->number, serves ? worker : NULL);
    uint64_t after = relock_ticks(), taken = after - before;
    operations++;
    total += taken;
    worst = taken > worst ? taken : worst;
    worker->histogram[bucket_of(taken)]++;
    while (relock_ticks() - after < delay)
      continue;
  } while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED));
  worker->end = relock_ticks();
  worker->operations = operations;
  worker->total = total;
  worker->worst = worst;
}

static inline __attribute__((always_inline)) void run(struct worker *worker, enum way way) {
  if (worker->length)
    loop(worker, way, true);
  else
    loop(worker, way, false);
}

static void *work(void *argument) {
  struct worker *worker = argument;
  const struct row *row = worker->row;
  memset(worker->histogram, 0, sizeof worker->histogram);
  if (row->way == WAY_OTHER && row->other->enter)
    row->other->enter(shared.other, worker->number);
  pthread_barrier_wait(&shared.start);
  switch (row->way) {
  case WAY_HOLD:
    run(worker, WAY_HOLD);
    break;
  case WAY_EXECUTE:
    run(worker, WAY_EXECUTE);
    break;
  case WAY_ANY_THREAD:
    run(worker, WAY_ANY_THREAD);
    break;
  case WAY_PTHREAD:
    run(worker, WAY_PTHREAD);
    break;
  case WAY_FETCH_AND_ADD:
    run(worker, WAY_FETCH_AND_ADD);
    break;
  case WAY_OTHER:
    run(worker, WAY_OTHER);
    break;
  }
  if (row->way == WAY_OTHER && row->other->leave)
    row->other->leave(shared.other, worker->number);
  return NULL;
}

static void late(int signal) {
  (void)signal;
  static const char text[] = "relock-bench: did not end within a minute: ";
  if (write(2, text, sizeof text - 1) < 0 || write(2, current, current_length) < 0)
    _exit(3);
  _exit(3);
}

/* From here on until the alarm is taken back, the row is what hangs if something hangs. */
static void watch(const struct row *row, const struct point *point) {
  current_length =
      (size_t)snprintf(current, sizeof current, "%s %s, %d threads, %d lines, delay %ld\n",
                       row->lock, row->mode, point->threads, point->lines, point->delay);
  alarm((unsigned)(milliseconds / 1000 + PATIENCE_SECONDS));
}

static void pin_self(bool pin) {
  cpu_set_t set = allowed;
  if (pin) {
    CPU_ZERO(&set);
    CPU_SET(cpus[0], &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

void measure_start(const struct options *options) {
  int most = 1;
  for (int i = 0; i < options->thread_values; i++)
    most = options->threads[i] > most ? options->threads[i] : most;
  milliseconds = options->milliseconds;
  pinning = options->pin;
  lengths = options->lengths;
  length_count = options->length_values;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    fail(2, "cannot read which processors may be used: %s", strerror(errno));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed))
      cpus[cpu_count++] = cpu;
  workers = aligned_alloc(LINE, (size_t)most * sizeof *workers);
  threads = calloc((size_t)most, sizeof *threads);
  if (!workers || !threads)
    fail(2, "no memory for %d threads", most);
  signal(SIGALRM, late);
  ticks_per_second();
  ticks_per_cycle();
}

/* Between the first and the last of the processors that the threads of the point run on; one thread
 * is measured beside the next processor. */
static void look_at_host(const struct point *point, struct host *host) {
  const int used = point->threads < 2 ? 2 : point->threads;
  measure_host(cpus[0], cpus[(used < cpu_count ? used : cpu_count) - 1], pinning, host);
}

/* A fresh lock, used once by this thread, which is not pinned: a server that the first use starts
 * would inherit its processors. */
static void make_lock(struct row *row, int thread_count, int lines) {
  shared.lines = lines;
  __atomic_store_n(&shared.stop, 0, __ATOMIC_RELAXED);
  if (row->way == WAY_OTHER) {
    shared.other = row->other->create(thread_count);
    if (!shared.other)
      fail(2, "%s: its create() failed", row->lock);
  } else if (row->way == WAY_PTHREAD) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (pthread_mutexattr_settype(&attributes, row->pthread_type) != 0 ||
        pthread_mutex_init(&shared.pthread, &attributes) != 0)
      fail(2, "%s: cannot be initialised", row->lock);
    pthread_mutexattr_destroy(&attributes);
  } else if (row->way != WAY_FETCH_AND_ADD) {
    if (relock_mutex_init(&shared.mutex, NULL, &row->lock_class) != 0)
      fail(2, "%s: cannot be initialised", row->lock);
  }
  if (row->way != WAY_OTHER) /* whose threads alone are known to it */
    operate(row, row->way, 0, NULL);
  memset(shared.line, 0, sizeof shared.line);
}

static void destroy_lock(const struct row *row) {
  int error = 0;
  if (row->way == WAY_OTHER)
    row->other->destroy(shared.other);
  else if (row->way == WAY_PTHREAD)
    error = pthread_mutex_destroy(&shared.pthread);
  else if (row->way != WAY_FETCH_AND_ADD)
    error = relock_mutex_destroy(&shared.mutex);
  if (error)
    fail(3, "%s %s: cannot be destroyed after its last use: %s", row->lock, row->mode,
         strerror(error));
}

static void start_threads(struct row *row, const struct point *point) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  for (int i = 0; i < point->threads; i++) {
    struct worker *worker = &workers[i];
    worker->row = row;
    worker->number = i;
    worker->length = length_count ? lengths[i % length_count] : 0;
    worker->service = 0;
    worker->delay = (uint64_t)((double)point->delay * ticks_per_cycle() + 0.5);
    if (pinning) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpus[i % cpu_count], &set);
      pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    int error = pthread_create(&threads[i], &attributes, work, worker);
    if (error)
      fail(2, "cannot start %d threads: %s", point->threads, strerror(error));
  }
  pthread_attr_destroy(&attributes);
}

/* The value below which 99 of 100 latencies lie, in ticks. */
static double percentile_99(int thread_count, uint64_t operations) {
  uint64_t below = 0, wanted = operations - operations / 100;
  for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
    for (int i = 0; i < thread_count; i++)
      below += workers[i].histogram[bucket];
    if (below >= wanted)
      return bucket_value(bucket);
  }
  return 0;
}

/* Jain's index of `sum`, and the sum of its squares, over so many threads. */
static double jain(double sum, double squares, int count) {
  return squares > 0 ? sum * sum / (count * squares) : 1;
}

static void summarise_service(int thread_count, struct result *result) {
  double sum = 0, squares = 0;
  for (int i = 0; i < thread_count; i++) {
    const double service = (double)workers[i].service;
    sum += service;
    squares += service * service;
    result->work += (double)workers[i].operations * workers[i].length;
  }
  result->service_jain = jain(sum, squares, thread_count);
}

static void summarise(int thread_count, struct result *result) {
  uint64_t start = UINT64_MAX, end = 0, total = 0, worst = 0;
  double sum = 0, squares = 0;
  memset(result, 0, sizeof *result);
  for (int i = 0; i < thread_count; i++) {
    const struct worker *worker = &workers[i];
    start = worker->start < start ? worker->start : start;
    end = worker->end > end ? worker->end : end;
    worst = worker->worst > worst ? worker->worst : worst;
    total += worker->total;
    result->operations += worker->operations;
    sum += (double)worker->operations;
    squares += (double)worker->operations * (double)worker->operations;
  }
  double ns = 1e9 / ticks_per_second(), p99 = percentile_99(thread_count, result->operations);
  result->seconds = (double)(end - start) / ticks_per_second();
  result->jain = jain(sum, squares, thread_count);
  result->mean_ns = sum > 0 ? (double)total * ns / sum : 0;
  result->worst_ns = (double)worst * ns;
  result->p99_ns = p99 < (double)worst ? p99 * ns : result->worst_ns;
}

/* Mutual exclusion: no increment may be lost. */
static void check(const struct row *row, const struct point *point, uint64_t operations) {
  int lines = row->way == WAY_FETCH_AND_ADD ? 1 : point->lines;
  for (int i = 0; i < lines; i++)
    if (shared.line[i].value != (long)operations)
      fail(3,
           "%s %s, %d threads, %d lines, delay %ld: line %d counts %ld, but %llu operations were "
           "done",
           row->lock, row->mode, point->threads, point->lines, point->delay, i,
           shared.line[i].value, (unsigned long long)operations);
}

static double context_switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_nvcsw + (double)usage.ru_nivcsw;
}

static void set_host(struct result *result, const struct host *before, const struct host *after) {
  result->transfer_ns[0] = before->transfer_ns;
  result->transfer_ns[1] = after->transfer_ns;
  result->cycles_per_ns[0] = before->cycles_per_ns;
  result->cycles_per_ns[1] = after->cycles_per_ns;
  result->ticks_per_ns = after->ticks_per_ns;
}

void measure(struct row *row, const struct point *point, struct result *result) {
  struct host before, after;
  watch(row, point);
  relock_word_start(); /* or a row that made many barriers would slow down others for a second */
  look_at_host(point, &before);
  make_lock(row, point->threads, point->lines);
  pthread_barrier_init(&shared.start, NULL, (unsigned)point->threads + 1);
  start_threads(row, point);
  double switches = context_switches();
  pthread_barrier_wait(&shared.start);
  sleep_ms(milliseconds);
  __atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < point->threads; i++)
    pthread_join(threads[i], NULL);
  switches = context_switches() - switches;
  pthread_barrier_destroy(&shared.start);
  look_at_host(point, &after);
  alarm(0);
  summarise(point->threads, result);
  if (length_count)
    summarise_service(point->threads, result);
  set_host(result, &before, &after);
  result->switches = switches / result->seconds;
  check(row, point, result->operations);
  destroy_lock(row);
}

static inline __attribute__((always_inline)) double per_operation(const struct row *row,
                                                                  enum way way) {
  enum { BATCH = 1000 };
  uint64_t start = now_ns(), end, limit = start + (uint64_t)milliseconds * 1000000;
  double operations = 0;
  do {
    for (int i = 0; i < BATCH; i++)
      operate(row, way, 0, NULL);
    operations += BATCH;
    end = now_ns();
  } while (end < limit);
  return (double)(end - start) / operations;
}

static double per_operation_of(const struct row *row) {
  switch (row->way) {
  case WAY_HOLD:
    return per_operation(row, WAY_HOLD);
  case WAY_EXECUTE:
    return per_operation(row, WAY_EXECUTE);
  case WAY_ANY_THREAD:
    return per_operation(row, WAY_ANY_THREAD);
  case WAY_PTHREAD:
    return per_operation(row, WAY_PTHREAD);
  case WAY_FETCH_AND_ADD:
    return per_operation(row, WAY_FETCH_AND_ADD);
  case WAY_OTHER:
    return per_operation(row, WAY_OTHER);
  }
  return 0;
}

double measure_uncontended(struct row *row, double *cycles_per_ns) {
  struct host host = {0};
  make_lock(row, 1, 0); /* no lines: empty sections */
  watch(row, &(struct point){1, shared.lines, 0});
  if (row->way == WAY_OTHER && row->other->enter)
    row->other->enter(shared.other, 0);
  pin_self(pinning);
  double ns = per_operation_of(row);
  measure_clock(&host);
  *cycles_per_ns = host.cycles_per_ns;
  pin_self(false);
  if (row->way == WAY_OTHER && row->other->leave)
    row->other->leave(shared.other, 0);
  alarm(0);
  destroy_lock(row);
  return ns;
}

double measure_single(struct row *row) {
  int end[2], status;
  double ns = 0;
  if (pipe(end) != 0)
    fail(2, "no pipe: %s", strerror(errno));
  /* A child for each row: the first one that starts a thread would end it for all others. */
  pid_t child = fork();
  if (child < 0)
    fail(2, "no process: %s", strerror(errno));
  if (child == 0) {
    double unused;
    ns = measure_uncontended(row, &unused);
    _exit(write(end[1], &ns, sizeof ns) == sizeof ns ? 0 : 2);
  }
  close(end[1]);
  if (read(end[0], &ns, sizeof ns) != sizeof ns)
    ns = -1;
  close(end[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (ns < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(3, "%s %s: its process without threads died", row->lock, row->mode);
  return ns;
}
