/* SPDX-License-Identifier: MIT
 *
 * relock-simulator: on a simulated machine, the microbenchmark of the lock algorithms, or the
 * threads and locks of a program (program.h). `relock simulate` and `relock advise` run it and show
 * what it prints.
 */
#define _GNU_SOURCE
#include "../bench/fans.h"
#include "../collectives/barrier.h"
#include "../locks/algorithm.h"
#include "explain.h"
#include "jobs.h"
#include "load.h"
#include "load_bare.h"
#include "load_broadcast.h"
#include "load_containers.h"
#include "load_team.h"
#include "point.h"
#include "program.h"

#include <relock/relock.h>

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

enum { MAX_VALUES = 64, MAX_ROWS = 256, MAX_CHOICES = 1024 };

void sim_fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "relock-simulator: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(status);
}

struct options {
  const char *machine; /* a file */
  const char *program; /* a file; null: the microbenchmark */
  const char *choices[MAX_CHOICES];
  size_t choice_count;
  bool even;
  long processors; /* 0: all that the machine has */
  const char *locks, *modes, *barriers;
  long threads[MAX_VALUES], lines[MAX_VALUES], delays[MAX_VALUES];
  int thread_values, line_values, delay_values;
  long microseconds; /* 0: as the delay needs it */
  long sections;     /* 0: as many as fit */
  long max_ops;      /* 0: as published */
  int jobs;
  bool explain, fans;
};

struct row {
  char lock[40];
  enum sim_mode mode;
};
static const char *const mode_names[] = {"hold",    "execute", "any-thread", "limit", "limit",
                                         "barrier", "bare",    "broadcast",  "team",  "counter",
                                         "stack",   "queue",   "queue-2"};

struct point {
  const struct row *row;
  long threads, lines, delay;
};

/* --- one point, in a process of its own ------------------------------------------------------ */

/* Twenty delays are enough for each thread to have some sections. */
static uint64_t duration_ns(const struct options *options, const struct sim_machine *machine,
                            long delay) {
  if (options->microseconds)
    return (uint64_t)options->microseconds * 1000;
  const uint64_t delays = sim_ns(machine, (uint64_t)delay * 20);
  return delays > 1000000 ? delays : 1000000;
}

static struct sim_traffic traffic_of_all(const struct sim_machine *machine) {
  struct sim_traffic all = {0};
  for (unsigned core = 0; core < sim_cores(machine); core++) {
    const struct sim_traffic *one = &sim_traffic[core];
    all.accesses += one->accesses;
    all.hits += one->hits;
    all.memory += one->memory;
    for (unsigned hops = 0; hops <= SIM_MAX_HOPS; hops++)
      all.transfers[hops] += one->transfers[hops];
    all.invalidations += one->invalidations;
    all.transferring += one->transferring;
    all.queueing += one->queueing;
  }
  return all;
}

/* Of `--explain`. */
enum { MOST_PLACES = 24 };

static void print_places(void) {
  struct sim_place places[MOST_PLACES];
  const unsigned count = sim_places(places, MOST_PLACES);
  for (unsigned i = 0; i < count; i++)
    printf("%s{\"address\":%" PRIuPTR ",\"misses\":%" PRIu64 ",\"cycles\":%" PRIu64 "}",
           i ? "," : ",\"places\":[", places[i].address, places[i].misses, places[i].cycles);
  if (count)
    putchar(']');
}

static void print_point(const struct sim_machine *machine, const struct point *point) {
  struct sim_counts counts;
  const bool is_broadcast = point->row->mode == SIM_BROADCAST;
  if (!(is_broadcast ? sim_broadcast_count : sim_load_count)(&counts))
    sim_fail(3, "%s %s, %ld threads: a section, or what was sent, was lost or came twice",
             point->row->lock, mode_names[point->row->mode], point->threads);
  const struct sim_traffic traffic = traffic_of_all(machine);
  const double all = counts.sections ? (double)counts.sections : 1;
  const double cycle_ns = 1000.0 / (double)machine->mhz;
  printf("{\"type\":\"cell\",\"lock\":\"%s\",\"mode\":\"%s\",\"lines\":%ld,\"delay\":%ld,"
         "\"threads\":%ld,\"repetition\":0,\"operations\":%" PRIu64 ",\"seconds\":%.9f,"
         "\"mean_ns\":%.1f,\"p99_ns\":%.1f,\"worst_ns\":%.1f,\"jain\":%.4f,"
         "\"switches_per_second\":%.1f,\"transfer_ns\":[%.1f,%.1f],\"cycles_per_ns\":[%.3f,%.3f],"
         "\"ticks_per_ns\":%.4f",
         point->row->lock, mode_names[point->row->mode], point->lines, point->delay, point->threads,
         counts.sections, (double)counts.cycles * cycle_ns * 1e-9,
         (double)counts.total / all * cycle_ns, (double)counts.p99 * cycle_ns,
         (double)counts.worst * cycle_ns, counts.jain,
         (double)sim_switches / ((double)counts.cycles * cycle_ns * 1e-9),
         (double)machine->transfer[0] * cycle_ns,
         (double)machine->transfer[machine->max_hops] * cycle_ns, 1 / cycle_ns, 1 / cycle_ns,
         1 / cycle_ns);
  uint64_t misses = traffic.memory;
  for (unsigned hops = 0; hops <= machine->max_hops; hops++)
    misses += traffic.transfers[hops];
  printf(",\"cycles\":%.1f,\"misses\":%" PRIu64 ",\"accesses\":%" PRIu64
         ",\"invalidations\":%" PRIu64 ",\"transferring\":%" PRIu64 ",\"queueing\":%" PRIu64,
         (double)counts.total / all, misses, traffic.accesses, traffic.invalidations,
         traffic.transferring, traffic.queueing);
  print_places();
  puts("}");
  fflush(stdout);
}

static uint64_t limit_ns(const struct sim_machine *machine, const struct sim_load *load) {
  return SIM_LIMIT_NS +
         sim_ns(machine, load->sections ? load->sections * load->delay : load->cycles);
}

/* The last ones are the servers'. */
static unsigned processors_of_threads(const struct sim_machine *machine, const struct row *row) {
  const unsigned all = sim_processors(machine);
  unsigned servers = row->mode <= SIM_ANY_THREAD || sim_is_container(row->mode);
  if (row->mode == SIM_BARE)
    servers = sim_bare_has_server(row->lock);
  if (row->mode == SIM_TWO_LOCKS && strcmp(row->lock, "rcl") == 0)
    servers = 2;
  return all > servers ? all - servers : all;
}

static void simulate(const struct options *options, const struct sim_machine *machine,
                     const struct point *point) {
  static struct sim_load load;
  load = (struct sim_load){
      .lock = point->row->lock,
      .mode = point->row->mode,
      .threads = (unsigned)point->threads,
      .lines = (unsigned)point->lines,
      .delay = (uint64_t)point->delay,
      .sections = (uint64_t)options->sections,
      .max_ops = (uint64_t)options->max_ops,
      .cycles = sim_cycles(machine, duration_ns(options, machine, point->delay)),
      .processors = processors_of_threads(machine, point->row),
  };
  sim_start(machine);
  sim_explain(options->explain);
  void *(*run)(void *) = load.mode == SIM_BROADCAST ? sim_broadcast_run : sim_load_run;
  if (!sim_thread_start(run, &load, "main", -1, true))
    sim_fail(2, "no memory for a thread");
  sim_run(limit_ns(machine, &load));
  print_point(machine, point);
}

/* --- all points ------------------------------------------------------------------------------ */

struct all_points {
  const struct options *options;
  const struct point *points;
};

static void begin_command(const struct options *options, struct sim_job *job) {
  sim_job_word(job, "relock-simulator");
  sim_job_word(job, "--point");
  sim_job_word(job, "--machine=%s", options->machine);
  if (options->microseconds)
    sim_job_word(job, "--microseconds=%ld", options->microseconds);
  if (options->processors)
    sim_job_word(job, "--processors=%ld", options->processors);
}

static void describe_point(size_t number, struct sim_job *job, void *context) {
  const struct all_points *all = context;
  const struct options *options = all->options;
  const struct point *point = &all->points[number];
  begin_command(options, job);
  if (options->barriers) {
    sim_job_word(job, "--barrier=%s", point->row->lock);
  } else {
    sim_job_word(job, "--lock=%s", point->row->lock);
    sim_job_word(job, "--mode=%s", mode_names[point->row->mode]);
    sim_job_word(job, "--lines=%ld", point->lines);
  }
  sim_job_word(job, "--threads=%ld", point->threads);
  sim_job_word(job, "--delay=%ld", point->delay);
  if (options->sections)
    sim_job_word(job, "--sections=%ld", options->sections);
  if (options->max_ops)
    sim_job_word(job, "--max-ops=%ld", options->max_ops);
  if (options->explain)
    sim_job_word(job, "--explain");
  snprintf(job->name, sizeof job->name, "%s %s, %ld threads, %ld lines, delay %ld",
           point->row->lock, mode_names[point->row->mode], point->threads, point->lines,
           point->delay);
}

static void describe_choice(size_t number, struct sim_job *job, void *context) {
  const struct options *options = context;
  const char *choice = options->choices[number];
  begin_command(options, job);
  sim_job_word(job, "--program=%s", options->program);
  sim_job_word(job, "--choice=%s", choice);
  if (options->even)
    sim_job_word(job, "--even");
  snprintf(job->name, sizeof job->name, "%s with '%.200s'", "the program", choice);
}

/* --- options --------------------------------------------------------------------------------- */

static long number(const char *option, const char *text, const char *end, long least, long most) {
  char *after;
  errno = 0;
  const long value = strtol(text, &after, 10);
  if (after == text || after != end || errno || value < least || value > most)
    sim_fail(2, "%s: '%.*s' is not a number from %ld to %ld", option, (int)(end - text), text,
             least, most);
  return value;
}

struct list {
  const char *option;
  long *values;
  int count;
};

static void add(struct list *list, long value) {
  if (list->count == MAX_VALUES)
    sim_fail(2, "%s: more than %d values", list->option, MAX_VALUES);
  list->values[list->count++] = value;
}

/* Numbers, and ranges in which they double: "2-12" is 2, 4, 8, 12. */
static int number_list(const char *option, const char *text, long least, long most, long *values) {
  struct list list = {option, values, 0};
  for (const char *at = text; at;) {
    const char *end = at + strcspn(at, ","), *first_end = at + strcspn(at, ",-");
    const long first = number(option, at, first_end, least, most);
    if (*first_end == '-') {
      const long last = number(option, first_end + 1, end, first, most);
      for (long value = first; value < last; value = value ? 2 * value : 1)
        add(&list, value);
      add(&list, last);
    } else {
      add(&list, first);
    }
    at = *end ? end + 1 : NULL;
  }
  return list.count;
}

static bool in_list(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
      return true;
  }
  return false;
}

/* With --barrier. */
static size_t make_barrier_rows(const char *wanted, struct row *rows) {
  char names[256];
  size_t count = 0, asked = 1;
  snprintf(names, sizeof names, "%s default pthread", relock_barrier_algorithms);
  for (const char *at = wanted; (at = strchr(at, ',')); at++)
    asked++;
  for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    if (!in_list(wanted, name))
      continue;
    snprintf(rows[count].lock, sizeof rows[count].lock, "%s", name);
    rows[count++].mode = SIM_BARRIER;
  }
  if (count < asked)
    sim_fail(2, "--barrier: '%s' has an unknown name; the names are:%s default pthread", wanted,
             relock_barrier_algorithms);
  return count;
}

/* There is no queue with two locks and without. */
static const char *names_of(enum sim_mode mode) {
  static char containers[2048];
  switch (mode) {
  case SIM_BARE:
    return sim_bare_names;
  case SIM_BROADCAST:
    return sim_broadcast_names;
  case SIM_TEAM:
    return sim_team_names;
  case SIM_TWO_LOCKS:
    return relock_algorithms();
  default:
    snprintf(containers, sizeof containers, "%s " SIM_LOCK_FREE, relock_algorithms());
    return containers;
  }
}

/* Those of the names, with blanks between them, that are wanted. */
static size_t add_rows(const struct options *options, const char *all, enum sim_mode mode,
                       struct row *rows, size_t count) {
  char names[2048];
  snprintf(names, sizeof names, "%s", all);
  for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    if (options->locks && !in_list(options->locks, name))
      continue;
    snprintf(rows[count].lock, sizeof rows[count].lock, "%s", name);
    rows[count++].mode = mode;
  }
  return count;
}

/* Without --mode each in the way that its delegated sections take. */
static size_t make_rows(const struct options *options, struct row *rows) {
  char names[2048];
  size_t count = 0, known = 0, asked = 0;
  if (options->barriers)
    return make_barrier_rows(options->barriers, rows);
  snprintf(names, sizeof names, "%s", relock_algorithms());
  for (const char *at = options->locks; at; at = strchr(at + 1, ','))
    asked++;
  for (char *save, *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
    if (options->locks && !in_list(options->locks, name))
      continue;
    known++;
    const bool combines = relock_algorithm_named(name)->execute != NULL;
    for (enum sim_mode mode = SIM_HOLD; mode <= SIM_ANY_THREAD; mode++) {
      const bool wanted = options->modes ? in_list(options->modes, mode_names[mode])
                                         : mode == (combines ? SIM_ANY_THREAD : SIM_HOLD);
      if (!wanted || (mode == SIM_ANY_THREAD && !combines))
        continue;
      snprintf(rows[count].lock, sizeof rows[count].lock, "%s", name);
      rows[count++].mode = mode;
    }
  }
  for (enum sim_mode mode = SIM_BARE; options->modes && mode <= SIM_TWO_LOCKS; mode++) {
    if (!in_list(options->modes, mode_names[mode]))
      continue;
    const size_t before = count;
    count = add_rows(options, names_of(mode), mode, rows, count);
    for (size_t i = before; mode <= SIM_TEAM && i < count; i++)
      known += !relock_algorithm_named(rows[i].lock); /* some are called as the runtime's are */
  }
  for (enum sim_mode mode = SIM_STORE; options->locks && mode <= SIM_SWAP; mode++) {
    const char *name = mode == SIM_STORE ? "store" : "swap";
    if (!in_list(options->locks, name))
      continue;
    known++;
    snprintf(rows[count].lock, sizeof rows[count].lock, "%s", name);
    rows[count++].mode = mode;
  }
  if (options->locks && in_list(options->locks, SIM_LOCK_FREE))
    known++;
  if (known < asked)
    sim_fail(2,
             "--lock: '%s' has an unknown name; the names are: %s store swap " SIM_LOCK_FREE
             "; with --mode bare: %s; with --mode broadcast: %s; with --mode team: %s",
             options->locks, relock_algorithms(), sim_bare_names, sim_broadcast_names,
             sim_team_names);
  if (count == 0)
    sim_fail(2, "nothing to simulate: no chosen algorithm has a chosen mode");
  return count;
}

static size_t make_points(const struct options *options, const struct row *rows, size_t row_count,
                          struct point *points) {
  size_t count = 0;
  for (int l = 0; l < options->line_values; l++)
    for (int d = 0; d < options->delay_values; d++)
      for (int t = 0; t < options->thread_values; t++)
        for (size_t r = 0; r < row_count; r++)
          points[count++] =
              (struct point){&rows[r], options->threads[t], options->lines[l], options->delays[d]};
  return count;
}

static const char usage[] =
    "usage: relock-simulator --machine FILE [options]\n"
    "       relock-simulator --machine FILE --program FILE [--choice CLASS=ALGORITHM,...]...\n"
    "  --lock LIST          algorithms to simulate, for example adaptive,rcl (default: all)\n"
    "                       'store' and 'swap' have no lock: all write to one line\n"
    "  --mode LIST          of hold, execute, any-thread (default: any-thread of algorithms that\n"
    "                       combine or delegate, hold of others), or of counter, stack, queue\n"
    "                       and queue-2, a container in the place of a lock's sections;\n"
    "                       'lock-free' is one without a lock; or bare: published algorithms\n"
    "                       without a mutex around them, of mp-server, shm-server, hybcomb,\n"
    "                       ccsynch, hyblock, mcs, clh and tas\n"
    "                       or broadcast: of --lines of 32 bytes to all cores of a machine with\n"
    "                       message-passing buffers, by oc-bcast-2, oc-bcast-7, oc-bcast-47,\n"
    "                       binomial and scatter-allgather; --delay 0: without a pause\n"
    "                       or team: broadcast, reduce and reduce-all of all threads, of --lines "
    "of\n"
    "                       64 bytes (0: of 8 bytes), and what programs do instead, with the\n"
    "                       runtime's barrier (barrier-broadcast, barrier-reduce) or the C\n"
    "                       library's (pthread-broadcast, pthread-reduce)\n"
    "  --max-ops N          sections that a bare combiner runs for others (default 200)\n"
    "  --barrier LIST       barriers of all threads instead: of central, backoff, tree, default,\n"
    "                       pthread (the C library's)\n"
    "  --threads LIST       numbers of threads; 1-47: doubling, and the last\n"
    "                       (default: one less than there are processors)\n"
    "  --lines LIST         shared cache lines per section, 0 to 64 (default 5); of a broadcast, "
    "to\n"
    "                       32768\n"
    "  --delay LIST         cycles between sections (default 100)\n"
    "  --microseconds N     of simulated time for each point (default 1000, or 20 delays)\n"
    "  --sections N         of each thread instead, however long that takes\n"
    "  --program FILE       the threads and locks of a program (runtime/sim/README.md) instead\n"
    "  --choice LIST        with other locks, for example store.lock=rcl:1,queue.lock=mcs; once\n"
    "                       for each run (default: pthread, the C library's mutex, for all)\n"
    "  --processors N       of the machine's, those that are nearest to each other (default: all)\n"
    "  --even               the same time between all sections (default: exponential)\n"
    "  --fans               without simulating: which RELOCK_TUNE for teams of --threads follows "
    "from\n"
    "                       the machine's costs, by the model of Ramos and Hoefler (2016)\n"
    "  --explain            the places in the code where threads wait for lines\n"
    "  -j N                 points at a time (default: one per processor)\n";

static void use_default(long *values, int *count, long value) {
  if (*count == 0)
    values[(*count)++] = value;
}

static bool parse(int argc, char **argv, struct options *options) {
  enum {
    MACHINE = 256,
    LOCK,
    MODE,
    BARRIER,
    THREADS,
    LINES,
    DELAY,
    MICROSECONDS,
    SECTIONS,
    MAX_OPS,
    EXPLAIN,
    FANS,
    POINT,
    PROGRAM,
    CHOICE,
    EVEN,
    PROCESSORS
  };
  static const struct option names[] = {
      {"machine", required_argument, NULL, MACHINE},
      {"lock", required_argument, NULL, LOCK},
      {"mode", required_argument, NULL, MODE},
      {"barrier", required_argument, NULL, BARRIER},
      {"threads", required_argument, NULL, THREADS},
      {"lines", required_argument, NULL, LINES},
      {"delay", required_argument, NULL, DELAY},
      {"microseconds", required_argument, NULL, MICROSECONDS},
      {"sections", required_argument, NULL, SECTIONS},
      {"max-ops", required_argument, NULL, MAX_OPS},
      {"explain", no_argument, NULL, EXPLAIN},
      {"fans", no_argument, NULL, FANS},
      {"point", no_argument, NULL, POINT},
      {"program", required_argument, NULL, PROGRAM},
      {"choice", required_argument, NULL, CHOICE},
      {"even", no_argument, NULL, EVEN},
      {"processors", required_argument, NULL, PROCESSORS},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  bool point = false;
  for (int option; (option = getopt_long(argc, argv, "j:h", names, NULL)) != -1;) {
    switch (option) {
    case MACHINE:
      options->machine = optarg;
      break;
    case LOCK:
      options->locks = optarg;
      break;
    case MODE:
      options->modes = optarg;
      break;
    case BARRIER:
      options->barriers = optarg;
      break;
    case THREADS:
      options->thread_values =
          number_list("--threads", optarg, 1, SIM_MAX_THREADS - 64, options->threads);
      break;
    case LINES:
      options->line_values = number_list("--lines", optarg, 0, SIM_MAX_MESSAGE, options->lines);
      break;
    case DELAY:
      options->delay_values = number_list("--delay", optarg, 0, 1000000000, options->delays);
      break;
    case MICROSECONDS:
      options->microseconds =
          number("--microseconds", optarg, optarg + strlen(optarg), 10, 1000000000);
      break;
    case SECTIONS:
      options->sections = number("--sections", optarg, optarg + strlen(optarg), 1, 1000000000);
      break;
    case MAX_OPS:
      options->max_ops = number("--max-ops", optarg, optarg + strlen(optarg), 1, 1000000000);
      break;
    case 'j':
      options->jobs = (int)number("-j", optarg, optarg + strlen(optarg), 1, SIM_MAX_JOBS);
      break;
    case EXPLAIN:
      options->explain = true;
      break;
    case FANS:
      options->fans = true;
      break;
    case PROGRAM:
      options->program = optarg;
      break;
    case CHOICE:
      if (options->choice_count == MAX_CHOICES)
        sim_fail(2, "--choice: more than %d", MAX_CHOICES);
      options->choices[options->choice_count++] = optarg;
      break;
    case EVEN:
      options->even = true;
      break;
    case PROCESSORS:
      options->processors =
          number("--processors", optarg, optarg + strlen(optarg), 1, SIM_MAX_PROCESSORS);
      break;
    case POINT:
      point = true;
      break;
    case 'h':
      fputs(usage, stdout);
      exit(0);
    default:
      fputs(usage, stderr);
      exit(2);
    }
  }
  if (optind != argc)
    sim_fail(2, "unexpected argument '%s'; `relock-simulator --help` lists the options",
             argv[optind]);
  if (!options->machine)
    sim_fail(2, "--machine: which one?");
  const bool of_locks = options->locks || options->modes || options->line_values;
  if (options->barriers && of_locks)
    sim_fail(2, "--barrier goes without --lock, --mode and --lines, which are of locks");
  const bool of_microbenchmark = of_locks || options->barriers || options->thread_values ||
                                 options->delay_values || options->sections || options->max_ops ||
                                 options->explain;
  if (options->program && of_microbenchmark)
    sim_fail(2, "--program goes with --choice, --even, --processors, --microseconds and -j; the "
                "other options are the microbenchmark's");
  if (!options->program && (options->choice_count || options->even))
    sim_fail(2, "--choice and --even are for a --program");
  return point;
}

/* What the machine cannot do. */
static void check_machine(const struct sim_machine *machine, const struct point *points,
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct point *point = &points[i];
    const bool is_broadcast = point->row->mode == SIM_BROADCAST;
    if (!is_broadcast && !machine->coherent)
      sim_fail(2, "the caches of %s are not coherent: only --mode broadcast runs there",
               machine->name);
    if (is_broadcast && !machine->buffer_lines)
      sim_fail(2, "--mode broadcast: %s has no message-passing buffers", machine->name);
    if (is_broadcast && (point->threads < 2 || point->threads > (long)sim_cores(machine) ||
                         point->threads > SIM_MAX_BROADCAST))
      sim_fail(2, "--mode broadcast: from 2 to %d cores of the machine's %u, not %ld",
               SIM_MAX_BROADCAST, sim_cores(machine), point->threads);
    if (is_broadcast && point->lines == 0 && point->delay == 0)
      sim_fail(2, "--mode broadcast: without lines and without a delay nothing takes time");
    if (point->row->mode == SIM_TEAM && point->lines > SIM_MAX_TEAM_LINES)
      sim_fail(2, "--mode team: at most %d lines", SIM_MAX_TEAM_LINES);
    if (!is_broadcast && point->row->mode != SIM_TEAM && point->lines > SIM_MAX_LINES)
      sim_fail(2, "--lines: sections have at most %d", SIM_MAX_LINES);
  }
}

static void complete(struct options *options, const struct sim_machine *machine) {
  const long processors = (long)sim_processors(machine);
  cpu_set_t set;
  use_default(options->threads, &options->thread_values, processors > 1 ? processors - 1 : 1);
  use_default(options->lines, &options->line_values, 5);
  use_default(options->delays, &options->delay_values, 100);
  if (!options->max_ops)
    options->max_ops = 200; /* Petrovic 2016, section 6.2.2 */
  if (!options->jobs)
    options->jobs = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* What the runtime reads before main(). Servers have the last processor, which no thread has. Only
 * what is simulated may depend on the environment, and the addresses are always the same. */
static void prepare_environment(const struct sim_machine *machine) {
  char server[64];
  snprintf(server, sizeof server, "1=cpu:%u", sim_processors(machine) - 1);
  setenv("RELOCK_SERVERS", server, 0);
  const char *given = getenv("RELOCK_TUNE");
  char tuning[1024];
  if (getenv("RELOCK_LOCKS"))
    sim_fail(2, "RELOCK_LOCKS is set and could change which algorithm a row measures; unset it");
  if ((size_t)snprintf(tuning, sizeof tuning, "server_fifo=0%s%s", given && *given ? "," : "",
                       given ? given : "") >= sizeof tuning)
    sim_fail(2, "RELOCK_TUNE is longer than %zu characters", sizeof tuning);
  setenv("RELOCK_TUNE", tuning, 1);
  personality(ADDR_NO_RANDOMIZE);
}

static void print_machine(const struct sim_machine *machine, size_t rows, size_t cells) {
  printf("{\"type\":\"machine\",\"format\":\"relock-bench\",\"version\":2,\"simulated\":true,"
         "\"model\":\"%s\",\"name\":\"%s\",\"processors\":%u,\"allowed\":%u,"
         "\"cycles_per_second\":%" PRIu64 ",\"pinned\":true,\"repetitions\":1,\"milliseconds\":0,"
         "\"transfer_ns\":%.1f,\"rows\":%zu,\"cells\":%zu}\n",
         machine->title, machine->name, sim_processors(machine), sim_processors(machine),
         machine->mhz * 1000000, (double)machine->transfer[0] * 1000 / (double)machine->mhz, rows,
         cells);
  fflush(stdout);
}

/* The threads and locks of a program, with each choice of locks. */
static int run_program(struct options *options, const struct sim_machine *machine, bool is_point) {
  if (options->choice_count == 0)
    options->choices[options->choice_count++] = "";
  static struct sim_program program;
  for (size_t i = 0; i < options->choice_count; i++) {
    if (!sim_program_read(options->program, &program))
      return 2;
    const char *wrong = sim_program_choose(&program, options->choices[i]);
    if (wrong)
      sim_fail(2, "--choice %s: %s", options->choices[i], wrong);
  }
  if (is_point) {
    sim_program_point(machine, &program, options->choices[0],
                      (uint64_t)options->microseconds * 1000, options->even);
    return 0;
  }
  prepare_environment(machine);
  print_machine(machine, 0, 0);
  sim_run_jobs(options->choice_count, options->jobs, describe_choice, options);
  puts("{\"type\":\"end\"}");
  return 0;
}

/* Of the first ones, in cycles. A team's lines are always in some cache. */
static struct relock_bench_lines costs_of(const struct sim_machine *machine, unsigned threads) {
  double sum = 0;
  for (unsigned i = 1; i < threads; i++)
    sum += (double)machine->transfer[machine->hops[sim_node_of_core(machine, 0)][sim_node_of_core(
        machine, sim_core_of(machine, i % sim_processors(machine)))]];
  const double other = threads > 1 ? sum / (threads - 1) : 0;
  return (struct relock_bench_lines){.own = (double)machine->hit,
                                     .other = other,
                                     .memory = other,
                                     .together = other,
                                     .each = other * (double)machine->read_occupancy / 100};
}

static void print_fans(const struct options *options, const struct sim_machine *machine) {
  for (int i = 0; i < options->thread_values; i++) {
    const int others = (int)options->threads[i] - 1;
    const struct relock_bench_lines costs = costs_of(machine, (unsigned)options->threads[i]);
    printf("%ld threads: broadcast_fan=%d,reduce_fan=%d\n", options->threads[i],
           relock_bench_fan(RELOCK_BENCH_BROADCAST, &costs, others),
           relock_bench_fan(RELOCK_BENCH_GATHER, &costs, others));
  }
}

int main(int argc, char **argv) {
  struct options options = {0};
  struct sim_machine machine;
  struct row rows[MAX_ROWS];
  const bool is_point = parse(argc, argv, &options);
  if (!sim_machine_read(options.machine, &machine))
    return 2;
  if (options.processors)
    sim_machine_restrict(&machine, (unsigned)options.processors);
  complete(&options, &machine);
  if (options.fans) {
    print_fans(&options, &machine);
    return 0;
  }
  if (options.program && !machine.coherent)
    sim_fail(2, "the caches of %s are not coherent: no program runs there", machine.name);
  if (options.program)
    return run_program(&options, &machine, is_point);
  const size_t row_count = make_rows(&options, rows);
  struct point *points = calloc(row_count * (size_t)options.thread_values *
                                    (size_t)options.line_values * (size_t)options.delay_values,
                                sizeof *points);
  if (!points)
    sim_fail(2, "no memory for the points");
  const size_t point_count = make_points(&options, rows, row_count, points);
  check_machine(&machine, points, point_count);
  if (is_point) {
    simulate(&options, &machine, &points[0]);
    return 0;
  }
  prepare_environment(&machine);
  print_machine(&machine, row_count, point_count);
  struct all_points all = {&options, points};
  sim_run_jobs(point_count, options.jobs, describe_point, &all);
  puts("{\"type\":\"end\"}");
  return 0;
}
