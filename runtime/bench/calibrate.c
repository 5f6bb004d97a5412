/* SPDX-License-Identifier: MIT
 *
 * --calibrate: whether this machine wants other thresholds than the defaults (base/tunables.def).
 *
 * Values are tried one at a time against the defaults, all in turns. Each is measured by a process
 * of its own that is given it by RELOCK_TUNE, as a program would be. Of those that are ahead
 * (verdict.h) the best of each name is taken, and together they are measured again beside the
 * defaults: so many comparisons find something ahead by chance sooner or later.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "../base/options.h"
#include "verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Those whose best value depends on the machine and shows in how many sections there are:
 * from a quarter or a half to four times the default. The others say what a program wants. */
static const struct {
  const char *name;
  const uint32_t *standard;
  uint32_t value;
} candidates[] = {
    {"spin_ns", &relock_tuning.spin_ns, 500},   {"spin_ns", &relock_tuning.spin_ns, 1000},
    {"spin_ns", &relock_tuning.spin_ns, 4000},  {"spin_ns", &relock_tuning.spin_ns, 8000},
    {"share_us", &relock_tuning.share_us, 25},  {"share_us", &relock_tuning.share_us, 100},
    {"share_us", &relock_tuning.share_us, 200}, {"open_us", &relock_tuning.open_us, 250},
    {"open_us", &relock_tuning.open_us, 4000},  {"membarrier", &relock_tuning.membarrier, 0},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates, TEXT = 200 };

/* Until a process has measured something: it starts and finds out how fast the counter is. */
enum { START_MS = 130, LOAD_MS = 3 };

static const struct options *options;
static const struct row *rows;
static int row_count, loads;
static char **child_arguments;

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    fail(2, "no memory");
  return memory;
}

static char *joined(const int *values, int count) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream)
    fail(2, "no memory");
  for (int i = 0; i < count; i++)
    fprintf(stream, "%s%d", i ? "," : "", values[i]);
  fclose(stream);
  return text;
}

/* This program with the same loads, once. */
static void make_arguments(void) {
  enum { MOST = 20 };
  char **next = child_arguments = allocate(MOST, sizeof *child_arguments);
  *next++ = (char *)"relock-bench";
  *next++ = (char *)"--algorithm";
  *next++ = (char *)options->locks;
  *next++ = (char *)"--mode";
  *next++ = (char *)options->modes;
  *next++ = (char *)"--threads";
  *next++ = joined(options->threads, options->thread_values);
  *next++ = (char *)"--lines";
  *next++ = joined(options->lines, options->line_values);
  *next++ = (char *)"--delay";
  *next++ = joined(options->delays, options->delay_values);
  *next++ = (char *)"--repetitions=1";
  *next++ = (char *)"--milliseconds";
  *next++ = joined(&options->milliseconds, 1);
  if (!options->pin)
    *next++ = (char *)"--no-pin";
}

static double member(const char *line, const char *name) {
  const char *at = strstr(line, name);
  if (!at)
    fail(3, "a result has no %s: %s", name, line);
  return strtod(at + strlen(name), NULL);
}

static void read_trials(FILE *results, struct trial *trials) {
  char *line = NULL;
  size_t size = 0;
  int count = 0;
  while (getline(&line, &size, results) > 0) {
    if (strncmp(line, "{\"type\":\"cell\"", 14) != 0)
      continue;
    if (count < loads)
      trials[count] = (struct trial){member(line, "\"operations\":") / member(line, "\"seconds\":"),
                                     member(line, "\"worst_ns\":")};
    count++;
  }
  free(line);
  if (count != loads)
    fail(3, "a run gave %d results instead of %d", count, loads);
}

/* One repetition of all loads with this RELOCK_TUNE; empty: the defaults. */
static void run(const char *tuning, struct trial *trials) {
  int results[2], error, status;
  pid_t child;
  posix_spawn_file_actions_t actions;
  if (pipe2(results, O_CLOEXEC) != 0)
    fail(2, "no pipe: %s", strerror(errno));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, results[1], STDOUT_FILENO);
  if (*tuning)
    setenv("RELOCK_TUNE", tuning, 1);
  error = posix_spawn(&child, "/proc/self/exe", &actions, NULL, child_arguments, environ);
  unsetenv("RELOCK_TUNE");
  if (error)
    fail(2, "cannot start another process: %s", strerror(error));
  posix_spawn_file_actions_destroy(&actions);
  close(results[1]);
  FILE *stream = fdopen(results[0], "r");
  if (!stream)
    fail(2, "no memory");
  read_trials(stream, trials);
  fclose(stream);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(3, "the run with RELOCK_TUNE=\"%s\" has failed", tuning);
}

/* Each setting as often as the options say, in turns: trials of the first, of the second, ... */
static struct trial *run_in_turns(const char (*settings)[TEXT], int count) {
  const int of_each = options->repetitions * loads;
  struct trial *trials = allocate((size_t)count * (size_t)of_each, sizeof *trials);
  for (int i = 0; i < options->repetitions; i++)
    for (int index = 0; index < count; index++) {
      int setting = i % 2 ? count - 1 - index : index;
      run(settings[setting], &trials[setting * of_each + i * loads]);
    }
  return trials;
}

/* In the order of a run's results: by lines, delay, threads, row. */
static void name_load(int load, char *text) {
  const struct row *row = &rows[load % row_count];
  const int point = load / row_count, threads = point % options->thread_values,
            delay = point / options->thread_values % options->delay_values,
            line = point / options->thread_values / options->delay_values;
  int length = snprintf(text, TEXT, "%s %s, T=%d, %d cycles", row->lock, row->mode,
                        options->threads[threads], options->delays[delay]);
  if (options->line_values > 1)
    snprintf(text + length, TEXT - (size_t)length, ", %d lines", options->lines[line]);
}

static void print_values(const char *what, struct spread value, const char *format,
                         const char *between) {
  char texts[3][20], cell[TEXT];
  const double values[] = {value.median, value.least, value.most};
  for (int i = 0; i < 3; i++)
    snprintf(texts[i], sizeof texts[i], format, values[i]);
  snprintf(cell, sizeof cell, "%s [%s%s%s]", texts[0], texts[1], between, texts[2]);
  printf("%s%26s", what, cell);
}

static void print_loads(const struct trial *trials) {
  double *values = allocate((size_t)options->repetitions, sizeof *values);
  printf("\n%-40s%26s\n", "with the defaults", "thousand sections/s");
  for (int load = 0; load < loads; load++) {
    char name[TEXT], label[TEXT];
    for (int i = 0; i < options->repetitions; i++)
      values[i] = trials[i * loads + load].rate / 1000;
    name_load(load, name);
    snprintf(label, sizeof label, "%-40s", name);
    print_values(label, spread_of(values, options->repetitions), "%.0f", "-");
    putchar('\n');
  }
  free(values);
}

static struct spread scaled(struct spread value, double factor) {
  return (struct spread){value.median * factor, value.least * factor, value.most * factor};
}

static void print_verdict(const char *setting, const struct verdict *verdict, bool against_itself) {
  char label[TEXT], load[TEXT], ahead[30];
  snprintf(label, sizeof label, "%-16s", against_itself ? "the defaults" : setting);
  snprintf(ahead, sizeof ahead, "%d of %d", verdict->ahead_in, options->repetitions);
  if (against_itself)
    printf("%s%36s", label, "");
  else
    print_values(label, scaled(verdict->gain, 100), "%+.1f", " to ");
  if (!against_itself)
    printf("%10s", ahead);
  print_values("", scaled(verdict->worst, 1e-6), "%.1f", "-");
  if (verdict->harmed >= 0) {
    name_load(verdict->harmed, load);
    printf("  behind: %s", load);
  } else if (verdict->ahead) {
    printf("  ahead");
  }
  putchar('\n');
}

static bool is_chosen(const struct verdict *verdict) {
  return verdict->ahead && verdict->harmed < 0;
}

/* The best value of each name, as RELOCK_TUNE takes them. */
static void choose(const struct verdict *verdicts, const char (*settings)[TEXT], char *tuning) {
  *tuning = '\0';
  for (int i = 0, end; i < CANDIDATES; i = end) {
    int best = -1;
    for (end = i; end < CANDIDATES && strcmp(candidates[end].name, candidates[i].name) == 0; end++)
      if (is_chosen(&verdicts[end]) &&
          (best < 0 || verdicts[end].gain.median > verdicts[best].gain.median))
        best = end;
    if (best >= 0)
      snprintf(tuning + strlen(tuning), TEXT - strlen(tuning), "%s%s", *tuning ? "," : "",
               settings[best]);
  }
}

/* Measured again: true if they are still ahead. */
static bool confirm(const char *tuning) {
  char settings[2][TEXT] = {""};
  strcpy(settings[1], tuning);
  struct trial *trials = run_in_turns(settings, 2);
  const struct trial *tried = &trials[options->repetitions * loads];
  struct verdict standard = judge(trials, trials, options->repetitions, loads);
  struct verdict verdict = judge(tried, trials, options->repetitions, loads);
  free(trials);
  printf("\nTogether, measured again:\n");
  print_verdict("", &standard, true);
  print_verdict(tuning, &verdict, false);
  if (!is_chosen(&verdict))
    return false;
  printf("\nRELOCK_TUNE=\"%s\"\n", tuning);
  printf("    %.1f %% more sections per second than with the defaults; the longest wait is %.1f ms "
         "instead of %.1f.\n",
         100 * verdict.gain.median, verdict.worst.median / 1e6, standard.worst.median / 1e6);
  if (verdict.worst.median > 1.1 * standard.worst.median)
    printf("    This pays for throughput with latency: where the longest wait matters, stay with "
           "the defaults.\n");
  return true;
}

static void print_plan(void) {
  const double seconds = (CANDIDATES + 3) * options->repetitions *
                         (START_MS + loads * (options->milliseconds + LOAD_MS)) / 1000.0;
  printf("%d values beside the defaults (", CANDIDATES);
  for (int i = 0; i < CANDIDATES; i++)
    if (i == 0 || strcmp(candidates[i].name, candidates[i - 1].name) != 0)
      printf("%s%s=%u", i ? "," : "", candidates[i].name, *candidates[i].standard);
  printf("),\neach under %d loads, in turns, %d times: up to %.0f s\n", loads, options->repetitions,
         seconds);
  if (options->repetitions < LEAST_REPETITIONS)
    printf("fewer than %d repetitions tell nothing from chance: no value will be chosen\n",
           LEAST_REPETITIONS);
  fflush(stdout);
}

void calibrate(const struct options *with, const struct row *of, size_t count) {
  options = with;
  rows = of;
  row_count = (int)count;
  loads = row_count * options->thread_values * options->line_values * options->delay_values;
  make_arguments();
  print_machine(options, of, count, 0);
  print_plan();

  static char settings[CANDIDATES + 1][TEXT]; /* the first: the defaults */
  static struct verdict verdicts[CANDIDATES];
  for (int i = 0; i < CANDIDATES; i++)
    snprintf(settings[i + 1], TEXT, "%s=%u", candidates[i].name, candidates[i].value);
  struct trial *trials = run_in_turns(settings, CANDIDATES + 1);
  print_loads(trials);
  printf("\n%-16s%26s%10s%26s\n", "", "gain over the defaults, %", "ahead in", "longest wait, ms");
  struct verdict standard = judge(trials, trials, options->repetitions, loads);
  print_verdict("", &standard, true);
  for (int i = 0; i < CANDIDATES; i++) {
    const struct trial *tried = &trials[(i + 1) * options->repetitions * loads];
    verdicts[i] = judge(tried, trials, options->repetitions, loads);
    print_verdict(settings[i + 1], &verdicts[i], false);
  }
  free(trials);
  char tuning[TEXT];
  choose(verdicts, settings + 1, tuning);
  if (!*tuning || !confirm(tuning))
    puts(options->repetitions < LEAST_REPETITIONS ? "\nToo few repetitions to choose from."
                                                  : "\nKeep the defaults: no other value was ahead "
                                                    "of them so often that it is no chance.");
  print_flush();
}
