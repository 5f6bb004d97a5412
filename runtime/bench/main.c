/* SPDX-License-Identifier: MIT
 *
 * relock-bench: the microbenchmark of the lock algorithms. Every algorithm of the library, the C
 * library's mutexes and a limit run side by side in one process; the repetitions of all rows of a
 * point are interleaved, so that a disturbance hits all of them. `relock bench` runs this program
 * and shows what it prints.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "relock-bench: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(status);
}

static const char usage[] =
    "usage: relock-bench [options]\n"
    "  --algorithm LIST         locks to measure, for example adaptive,pthread (default: all)\n"
    "  --mode LIST              of hold, execute, any-thread (default: all)\n"
    "  --threads LIST           numbers of threads (default 1,2,4,8,32)\n"
    "  --lines LIST             shared cache lines per section (default 1,5)\n"
    "  --delay LIST             cycles between sections (default 100,1000,10000,100000)\n"
    "  --lengths LIST           cycles in the sections of the threads, in turn: 1000,64000\n"
    "  -r, --repetitions N      of each cell (default 5)\n"
    "  -m, --milliseconds N     of each repetition (default 200)\n"
    "  --no-pin                 let the kernel place the threads\n"
    "  --uncontended            measure one thread with empty sections instead\n"
    "  --calibrate              try other thresholds (RELOCK_TUNE), say which are better here\n"
    "  --describe               print this machine as a file for relock simulate, and end; what\n"
    "                           relock calibrate runs. Comes first, and goes only with\n"
    "    --seconds N            at most about so long (default 20)\n"
    "    --name NAME            the machine's (default here)\n"
    "    --progress             say in lines with '#: ' how far it is\n"
    "  --barriers               measure barriers, beside the C library's and libgomp's. Comes "
    "first,\n"
    "                           and goes only with --threads, -r and -m\n"
    "  --teams                  measure broadcasts and reductions of 8 and of 4096 bytes (--bytes\n"
    "                           LIST), beside what programs do with a barrier. Comes first, and\n"
    "                           goes only with --bytes, --threads, -r and -m\n"
    "  --containers             measure containers, beside the C library's mutexes and lock-free\n"
    "                           ones. Comes first, and goes only with --algorithm, --threads,\n"
    "                           --delay (one), --other, -r and -m\n"
    "  --other FILE             measure the locks, or containers, of a shared object too\n"
    "                           (runtime/bench/other.h)\n"
    "  --baseline LOCK[:MODE]   in tables, ratios to this row, paired by repetition (-r 9, then)\n"
    "  --table                  print tables of medians, not a JSON object per result\n"
    "  --list                   print the names of the locks\n";

static int number(const char *option, const char *text, const char *end, int least, int most) {
  char *after;
  errno = 0;
  long value = strtol(text, &after, 10);
  if (after == text || after != end || errno || value < least || value > most)
    fail(2, "%s: '%.*s' is not a number from %d to %d", option, (int)(end - text), text, least,
         most);
  return (int)value;
}

static int number_list(const char *option, const char *text, int least, int most, int *values) {
  int count = 0;
  for (const char *at = text; at; count++) {
    const char *end = at + strcspn(at, ",");
    if (count == MAX_VALUES)
      fail(2, "%s: more than %d values", option, MAX_VALUES);
    values[count] = number(option, at, end, least, most);
    at = *end ? end + 1 : NULL;
  }
  return count;
}

static int one_number(const char *option, const char *text, int most) {
  return number(option, text, text + strlen(text), 1, most);
}

enum {
  ALGORITHM = 256,
  MODE,
  THREADS,
  LINES,
  DELAY,
  LENGTHS,
  NO_PIN,
  UNCONTENDED,
  CALIBRATE,
  DESCRIBE,
  OTHER,
  BASELINE,
  TABLE,
  LIST
};

static void parse(int argc, char **argv, struct options *options) {
  static const struct option names[] = {
      {"algorithm", required_argument, NULL, ALGORITHM},
      {"mode", required_argument, NULL, MODE},
      {"threads", required_argument, NULL, THREADS},
      {"lines", required_argument, NULL, LINES},
      {"delay", required_argument, NULL, DELAY},
      {"lengths", required_argument, NULL, LENGTHS},
      {"repetitions", required_argument, NULL, 'r'},
      {"milliseconds", required_argument, NULL, 'm'},
      {"no-pin", no_argument, NULL, NO_PIN},
      {"uncontended", no_argument, NULL, UNCONTENDED},
      {"calibrate", no_argument, NULL, CALIBRATE},
      {"describe", no_argument, NULL, DESCRIBE},
      {"other", required_argument, NULL, OTHER},
      {"baseline", required_argument, NULL, BASELINE},
      {"table", no_argument, NULL, TABLE},
      {"list", no_argument, NULL, LIST},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  bool list = false;
  int option;
  while ((option = getopt_long(argc, argv, "r:m:h", names, NULL)) != -1) {
    switch (option) {
    case ALGORITHM:
      options->locks = optarg;
      break;
    case MODE:
      options->modes = optarg;
      break;
    case THREADS:
      options->thread_values = number_list("--threads", optarg, 1, MAX_THREADS, options->threads);
      break;
    case LINES:
      options->line_values = number_list("--lines", optarg, 1, MAX_LINES, options->lines);
      break;
    case DELAY:
      options->delay_values = number_list("--delay", optarg, 0, 1000000000, options->delays);
      break;
    case LENGTHS:
      options->length_values = number_list("--lengths", optarg, 1, 1000000000, options->lengths);
      break;
    case 'r':
      options->repetitions = one_number("--repetitions", optarg, 1000);
      break;
    case 'm':
      options->milliseconds = one_number("--milliseconds", optarg, 3600000);
      break;
    case NO_PIN:
      options->pin = false;
      break;
    case UNCONTENDED:
      options->uncontended = true;
      break;
    case CALIBRATE:
      options->calibrate = true;
      break;
    case DESCRIBE:
      fail(2, "--describe comes first, and goes without the other options");
    case OTHER:
      options->other = optarg;
      break;
    case BASELINE:
      options->baseline = optarg;
      break;
    case TABLE:
      options->table = true;
      break;
    case LIST:
      list = true;
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
    fail(2, "unexpected argument '%s'; `relock-bench --help` lists the options", argv[optind]);
  if (options->calibrate &&
      (options->uncontended || options->table || options->other || options->baseline))
    fail(2, "--calibrate goes without --uncontended, --table, --other and --baseline");
  if (options->length_values && (options->calibrate || options->uncontended))
    fail(2, "--lengths goes without --calibrate and --uncontended");
  if (list) {
    puts(lock_names(options));
    exit(0);
  }
}

static const char *machine_name(const char *text) {
  enum { MOST = 63 }; /* sim/machine.h */
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const size_t length = strlen(text);
  if (length == 0 || length > MOST || strspn(text, letters) != length)
    fail(2, "--name: '%s' is not 1 to %d letters, digits, '.', '_' and '-'", text, MOST);
  return text;
}

/* The options of --describe, which is the first one. */
static void parse_description(int argc, char **argv, struct description *wanted) {
  enum { DESCRIBED = 256, SECONDS, NAME, PROGRESS, MOST_SECONDS = 3600 };
  static const struct option names[] = {
      {"describe", no_argument, NULL, DESCRIBED},
      {"seconds", required_argument, NULL, SECONDS},
      {"name", required_argument, NULL, NAME},
      {"progress", no_argument, NULL, PROGRESS},
      {NULL, 0, NULL, 0},
  };
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;)
    if (option == SECONDS)
      wanted->seconds = one_number("--seconds", optarg, MOST_SECONDS);
    else if (option == NAME)
      wanted->name = machine_name(optarg);
    else if (option == PROGRESS)
      wanted->progress = true;
    else if (option != DESCRIBED)
      fail(2, "--describe goes without other options than --seconds, --name and --progress");
  if (optind != argc)
    fail(2, "unexpected argument '%s'; `relock-bench --help` lists the options", argv[optind]);
}

/* The options of --barriers, or of --teams, which is the first one. */
static void parse_rounds(int argc, char **argv, bool of_teams, struct options *options) {
  enum { MODE = 256, THREADS, BYTES, MOST_BYTES = 1 << 24 };
  const struct option names[] = {
      {of_teams ? "teams" : "barriers", no_argument, NULL, MODE},
      {"threads", required_argument, NULL, THREADS},
      {"repetitions", required_argument, NULL, 'r'},
      {"milliseconds", required_argument, NULL, 'm'},
      {of_teams ? "bytes" : NULL, required_argument, NULL, BYTES},
      {NULL, 0, NULL, 0},
  };
  static const int usual[] = {1, 2, 4, 16, 64}, usual_bytes[] = {8, 4096};
  memcpy(options->threads, usual, sizeof usual);
  options->thread_values = sizeof usual / sizeof *usual;
  memcpy(options->lines, usual_bytes, sizeof usual_bytes);
  options->line_values = sizeof usual_bytes / sizeof *usual_bytes;
  options->repetitions = 9;
  options->milliseconds = 50;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "r:m:", names, NULL)) != -1;)
    if (option == BYTES)
      options->line_values = number_list("--bytes", optarg, 8, MOST_BYTES, options->lines);
    else if (option == THREADS)
      options->thread_values = number_list("--threads", optarg, 1, MAX_THREADS, options->threads);
    else if (option == 'r')
      options->repetitions = one_number("--repetitions", optarg, 1000);
    else if (option == 'm')
      options->milliseconds = one_number("--milliseconds", optarg, 60000);
    else if (option != MODE)
      fail(2, "%s goes without other options than %s--threads, -r and -m", argv[1],
           of_teams ? "--bytes, " : "");
  if (optind != argc)
    fail(2, "unexpected argument '%s'; `relock-bench --help` lists the options", argv[optind]);
  if (getenv("RELOCK_BARRIER"))
    fail(2, "RELOCK_BARRIER is set and could change which algorithm a row measures; unset it");
}

/* What would make a row measure something else than it says. */
static void check_environment(const struct options *options) {
  if (getenv("RELOCK_LOCKS"))
    fail(2, "RELOCK_LOCKS is set and could change which algorithm a row measures; unset it");
  if (options->calibrate && getenv("RELOCK_TUNE"))
    fail(2, "RELOCK_TUNE is set, and --calibrate compares with the defaults; unset it");
}

/* The options of --containers, which is the first one. */
static void parse_containers(int argc, char **argv, struct options *options) {
  enum { CONTAINERS = 256, LOCKS, THREADS, PAUSE, OTHER };
  static const struct option names[] = {
      {"containers", no_argument, NULL, CONTAINERS},  {"algorithm", required_argument, NULL, LOCKS},
      {"threads", required_argument, NULL, THREADS},  {"delay", required_argument, NULL, PAUSE},
      {"other", required_argument, NULL, OTHER},      {"repetitions", required_argument, NULL, 'r'},
      {"milliseconds", required_argument, NULL, 'm'}, {NULL, 0, NULL, 0},
  };
  static const int usual[] = {1, 2, 4, 16};
  memcpy(options->threads, usual, sizeof usual);
  options->thread_values = sizeof usual / sizeof *usual;
  options->locks = "posix,mcs,adaptive,flat_combining,ccsynch,hsynch,hybcomb,rcl";
  options->delays[0] = 500;
  options->repetitions = 9;
  options->milliseconds = 50;
  options->pin = false;
  options->table = true;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "r:m:", names, NULL)) != -1;)
    if (option == LOCKS)
      options->locks = optarg;
    else if (option == THREADS)
      options->thread_values = number_list("--threads", optarg, 1, MAX_THREADS, options->threads);
    else if (option == PAUSE)
      options->delays[0] = number("--delay", optarg, optarg + strlen(optarg), 0, 1000000000);
    else if (option == OTHER)
      options->other = optarg;
    else if (option == 'r')
      options->repetitions = one_number("--repetitions", optarg, 1000);
    else if (option == 'm')
      options->milliseconds = one_number("--milliseconds", optarg, 60000);
    else if (option != CONTAINERS)
      fail(2, "--containers goes without other options than --algorithm, --threads, --delay, "
              "--other, -r and -m");
  if (optind != argc)
    fail(2, "unexpected argument '%s'; `relock-bench --help` lists the options", argv[optind]);
  check_environment(options);
}

/* Even repetitions go through the rows forwards, odd ones backwards: no row always follows the
 * same other one, whose server or sleepers may just be coming to rest. */
static size_t turn(int repetition, size_t index, size_t count) {
  return repetition % 2 ? count - 1 - index : index;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    fail(2, "no memory");
  return memory;
}

static void measure_points(const struct options *options, struct row *rows, size_t row_count,
                           int lines, int delay, struct result *results) {
  for (int t = 0; t < options->thread_values; t++) {
    struct point point = {options->threads[t], lines, delay};
    for (int i = 0; i < options->repetitions; i++) {
      for (size_t index = 0; index < row_count; index++) {
        size_t r = turn(i, index, row_count);
        size_t at = ((size_t)t * row_count + r) * (size_t)options->repetitions + (size_t)i;
        measure(&rows[r], &point, &results[at]);
        if (!options->table)
          print_result(&rows[r], &point, i, &results[at]);
      }
    }
  }
}

static void measure_grid(const struct options *options, struct row *rows, size_t row_count) {
  size_t per_table = (size_t)options->thread_values * row_count * (size_t)options->repetitions;
  print_machine(options, rows, row_count,
                per_table * (size_t)options->line_values * (size_t)options->delay_values);
  struct result *results = allocate(per_table, sizeof *results);
  for (int l = 0; l < options->line_values; l++) {
    for (int d = 0; d < options->delay_values; d++) {
      measure_points(options, rows, row_count, options->lines[l], options->delays[d], results);
      if (options->table)
        print_table(options, rows, row_count, options->lines[l], options->delays[d], results);
    }
  }
  free(results);
}

static void *idle(void *barrier) {
  pthread_barrier_wait(barrier);
  return NULL;
}

static void measure_one_thread(const struct options *options, struct row *rows, size_t row_count) {
  size_t repetitions = (size_t)options->repetitions;
  print_machine(options, rows, row_count, row_count * repetitions);
  struct uncontended *results = allocate(row_count * repetitions, sizeof *results);
  for (int i = 0; i < options->repetitions; i++)
    for (size_t index = 0; index < row_count; index++) {
      size_t r = turn(i, index, row_count);
      results[r * repetitions + (size_t)i].single_ns = measure_single(&rows[r]);
    }
  /* From here on there is a second thread: the C library saves its atomic operations until then. */
  pthread_barrier_t end;
  pthread_t idler;
  pthread_barrier_init(&end, NULL, 2);
  if (pthread_create(&idler, NULL, idle, &end) != 0)
    fail(2, "cannot start a thread");
  for (int i = 0; i < options->repetitions; i++)
    for (size_t index = 0; index < row_count; index++) {
      size_t r = turn(i, index, row_count);
      struct uncontended *result = &results[r * repetitions + (size_t)i];
      result->ns = measure_uncontended(&rows[r], &result->cycles_per_ns);
      if (!options->table)
        print_uncontended(&rows[r], i, result);
    }
  pthread_barrier_wait(&end);
  pthread_join(idler, NULL);
  pthread_barrier_destroy(&end);
  if (options->table)
    print_uncontended_table(options, rows, row_count, results);
  free(results);
}

static void use(const int *values, int count, int *option, int *option_count) {
  if (*option_count == 0)
    memcpy(option, values, (size_t)count * sizeof *values);
  *option_count = *option_count ? *option_count : count;
}

/* What is measured where the user does not say it. For a calibration the default algorithm, one
 * whose waiters form a queue, and one with a server; alone, a thread per processor, and more. */
static void complete(struct options *options) {
  if (options->calibrate) {
    cpu_set_t set;
    const int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    options->locks = options->locks ? options->locks : "adaptive,mcs,rcl";
    options->modes = options->modes ? options->modes : "hold,any-thread";
    const int most = 4 * cpus < MAX_THREADS ? 4 * cpus : MAX_THREADS;
    use(cpus > 1 ? (int[]){1, cpus, most} : (int[]){1, most}, cpus > 1 ? 3 : 2, options->threads,
        &options->thread_values);
    use((int[]){1}, 1, options->lines, &options->line_values);
    use((int[]){1000}, 1, options->delays, &options->delay_values);
  }
  use((int[]){1, 2, 4, 8, 32}, 5, options->threads, &options->thread_values);
  use((int[]){1, 5}, 2, options->lines, &options->line_values);
  use((int[]){100, 1000, 10000, 100000}, 4, options->delays, &options->delay_values);
  if (!options->repetitions)
    options->repetitions = options->calibrate || options->baseline ? 9 : 5;
  if (!options->milliseconds)
    options->milliseconds = options->calibrate ? 50 : 200;
}

int main(int argc, char **argv) {
  struct options options = {.pin = true};
  struct description wanted = {.name = "here", .seconds = 20};
  if (argc > 1 && strcmp(argv[1], "--describe") == 0) {
    parse_description(argc, argv, &wanted);
    describe_machine(&wanted);
    print_flush();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "--barriers") == 0) {
    parse_rounds(argc, argv, false, &options);
    compare_barriers(&options);
    print_flush();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "--teams") == 0) {
    parse_rounds(argc, argv, true, &options);
    compare_teams(&options);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "--containers") == 0) {
    parse_containers(argc, argv, &options);
    compare_containers(&options);
    print_flush();
    return 0;
  }
  parse(argc, argv, &options);
  complete(&options);
  check_environment(&options);
  size_t row_count;
  struct row *rows = make_rows(&options, &row_count);
  if (options.calibrate) {
    options.table = true; /* the machine as text */
    calibrate(&options, rows, row_count);
    return 0;
  }
  measure_start(&options);
  if (options.uncontended)
    measure_one_thread(&options, rows, row_count);
  else
    measure_grid(&options, rows, row_count);
  if (!options.table)
    print_end();
  return 0;
}
