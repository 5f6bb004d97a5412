/* SPDX-License-Identifier: MIT
 *
 * The command line of the schedule explorer, and what scenarios and the runtime need that must not
 * be instrumented.
 */
#define _GNU_SOURCE
#include "parts.h"
#include "scenarios.h"

#include "../../../runtime/base/panic.h"
#include "../../../runtime/base/wait.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EXIT_FOUND = 1, EXIT_USAGE = 2, EXIT_INCONCLUSIVE = 3 };

static const char usage[] =
    "usage: explore ALGORITHM [SCENARIO]... [OPTION]...\n"
    "Explores schedules of the scenarios (default: all) with a lock algorithm.\n"
    "  -b N             at most N deviations per execution (preemptions, values that are not the\n"
    "                   last, wake-ups for no reason, jumps of the clock) with two threads, fewer\n"
    "                   with three (default 4)\n"
    "  --spins          waits look again before they sleep, as with several processors\n"
    "  -r SEED -n RUNS  random executions instead of all\n"
    "  --replay TRAIL   one execution of one scenario, with a trace\n"
    "  --follow-all     goes on from states that were explored, too\n"
    "  --mutants        weakens each memory order in turn, and says which are missed\n"
    "  --function NAME  with --mutants: only orders in this function; may repeat\n"
    "  --line FILE:LINE with --mutants: only orders of this line; may repeat\n"
    "  --list           the scenarios\n"
    "Exit status: 0 all explored, nothing found; 1 something found (with --mutants: one was not\n"
    "missed); 2 wrong usage; 3 inconclusive: an execution was too long.\n";

/* --- for scenarios and the runtime ----------------------------------------------------------- */

static int inside = -1;    /* the client whose section runs */
static uint32_t inside_in; /* in this execution: others may have ended in the middle of a section */

void section_begins(int client) {
  if (current && inside >= 0 && inside_in == execution)
    finding("two sections at once: of thread %d, and in it of thread %d", inside, client);
  inside = client;
  inside_in = execution;
}
void section_ends(void) { inside = -1; }

void wrong(const char *what) { finding("%s (thread %d)", what, current->id); }

void free_memory(void *memory, size_t size) {
  memory_freed(memory, size, (uintptr_t)__builtin_return_address(0));
}

/* Instead of base/panic.c. */
void relock_say(const char *format, ...) { (void)format; }

void relock_panic(const char *format, ...) {
  char text[500];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (current)
    finding("the runtime stops the program: %s", text);
  fprintf(stderr, "relock: %s\n", text);
  abort();
}

void relock_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("explore: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _exit(EXIT_USAGE);
}

static void crashed(int number) {
  if (current)
    finding("thread %d crashes: signal %d (%s)", current->id, number, strsignal(number));
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_crashes(void) {
  static char memory[1 << 16];
  stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
}

/* --- options --------------------------------------------------------------------------------- */

enum { MAX_FUNCTIONS = 16, MAX_LINES = 128, MAX_CHOSEN = 64 };
static struct {
  unsigned processors;
  const char *algorithm;
  const struct scenario *chosen[MAX_CHOSEN];
  int chosen_count;
  bool random, mutants;
  uint64_t seed, runs;
  const char *trail;
  const char *function[MAX_FUNCTIONS];
  int functions;
  const char *line[MAX_LINES];
  int lines;
  int deviations;
} options = {.runs = 10000, .deviations = 4, .processors = 1};

static __attribute__((noreturn)) void usage_error(const char *what, const char *argument) {
  fprintf(stderr, "explore: %s '%s'\n%s", what, argument, usage);
  exit(EXIT_USAGE);
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t value = strtoull(text, &end, 0);
  if (!*text || *end)
    usage_error("not a number:", text);
  return value;
}

/* All scenarios; no two have the same name. */
static const struct {
  const struct scenario *these;
  const int *count;
} tables[] = {
    {scenarios, &scenario_count},
    {scenarios_apart, &scenario_apart_count},
    {scenarios_of_barriers, &scenario_of_barriers_count},
    {scenarios_of_teams, &scenario_of_teams_count},
    {scenarios_contained, &scenario_contained_count},
    {scenarios_of_pool, &scenario_of_pool_count},
    {scenarios_of_server, &scenario_of_server_count},
    {scenarios_of_signals, &scenario_of_signals_count},
};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

static void choose_scenario(const char *name) {
  const struct scenario *found = NULL;
  for (int table = 0; table < TABLES; table++)
    for (int i = 0; i < *tables[table].count; i++)
      if (strcmp(tables[table].these[i].name, name) == 0) {
        if (found)
          usage_error("two scenarios have the name", name);
        found = &tables[table].these[i];
      }
  if (!found || options.chosen_count == MAX_CHOSEN)
    usage_error("no such scenario:", name);
  options.chosen[options.chosen_count++] = found;
}

static const char *parameter(char **arguments, int *at) {
  if (!arguments[*at + 1])
    usage_error("a value is missing after", arguments[*at]);
  return arguments[++*at];
}

static void list_scenarios(void) {
  for (int table = 0; table < TABLES; table++)
    for (int i = 0; i < *tables[table].count; i++)
      printf("%-16s %s\n", tables[table].these[i].name, tables[table].these[i].what);
}

static void parse(char **arguments) {
  for (int i = 1; arguments[i]; i++) {
    const char *argument = arguments[i];
    if (strcmp(argument, "-b") == 0) {
      options.deviations = (int)number(parameter(arguments, &i));
    } else if (strcmp(argument, "-r") == 0) {
      options.random = true;
      options.seed = number(parameter(arguments, &i));
    } else if (strcmp(argument, "-n") == 0) {
      options.runs = number(parameter(arguments, &i));
    } else if (strcmp(argument, "--replay") == 0) {
      options.trail = parameter(arguments, &i);
    } else if (strcmp(argument, "--spins") == 0) {
      options.processors = 2;
    } else if (strcmp(argument, "--follow-all") == 0) {
      follow_all = true;
    } else if (strcmp(argument, "--mutants") == 0) {
      options.mutants = true;
    } else if (strcmp(argument, "--function") == 0 && options.functions < MAX_FUNCTIONS) {
      options.function[options.functions++] = parameter(arguments, &i);
    } else if (strcmp(argument, "--line") == 0 && options.lines < MAX_LINES) {
      options.line[options.lines++] = parameter(arguments, &i);
    } else if (strcmp(argument, "--list") == 0) {
      list_scenarios();
      exit(0);
    } else if (strcmp(argument, "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    } else if (argument[0] == '-') {
      usage_error("unknown option", argument);
    } else if (!options.algorithm) {
      options.algorithm = argument;
    } else {
      choose_scenario(argument);
    }
  }
  if (!options.algorithm)
    usage_error("an algorithm is missing; they are:", relock_algorithms());
  if (options.chosen_count == 0)
    for (int i = 0; i < scenario_count; i++)
      options.chosen[options.chosen_count++] = &scenarios[i];
  if (options.trail && options.chosen_count != 1)
    usage_error("--replay is for one scenario, not for", "all");
}

/* --- exploring ------------------------------------------------------------------------------- */

static void prepare(const struct scenario *scenario) {
  forget_names();
  set_processors(options.processors);
  set_managers(false);
  scenario->set_up();
  os_set_up();
  limits.deviations = options.deviations > scenario->less ? options.deviations - scenario->less : 0;
}

static enum outcome explore_one(const struct scenario *scenario, struct statistics *statistics) {
  *statistics = (struct statistics){0};
  prepare(scenario);
  return options.random ? explore_randomly(scenario, options.seed, options.runs, statistics)
                        : explore(scenario, statistics);
}

static void print_result(const struct scenario *scenario, enum outcome result,
                         const struct statistics *statistics) {
  printf("%-14s %-14s %9llu executions, ", options.algorithm, scenario->name,
         (unsigned long long)statistics->executions);
  if (!options.random) /* only who explores all looks at the ends */
    printf("%6u ends, ", statistics->ends);
  printf("at most %4u steps, ", statistics->longest);
  if (options.random)
    printf("random, seed %llu: ", (unsigned long long)options.seed);
  else
    printf("at most %d deviation%s: ", limits.deviations, limits.deviations == 1 ? "" : "s");
  switch (result) {
  case CLEAN:
    puts(options.random ? "nothing found" : "all explored");
    break;
  case FOUND:
    puts("FOUND");
    print_finding(scenario);
    break;
  case INCONCLUSIVE:
    printf("INCONCLUSIVE: an execution of more than %u steps, or too many stores\n", limits.steps);
    print_finding(scenario);
    break;
  }
  fflush(stdout);
}

static int explore_chosen(void) {
  int status = 0;
  for (int i = 0; i < options.chosen_count; i++) {
    struct statistics statistics;
    enum outcome result = explore_one(options.chosen[i], &statistics);
    print_result(options.chosen[i], result, &statistics);
    if (result == FOUND)
      return EXIT_FOUND;
    if (result == INCONCLUSIVE)
      status = EXIT_INCONCLUSIVE;
  }
  return status;
}

static int replay_chosen(void) {
  const struct scenario *scenario = options.chosen[0];
  prepare(scenario);
  enum outcome result = replay(scenario, options.trail);
  if (result == FOUND)
    printf("%s\n", finding_text());
  trace_print();
  return result == FOUND ? EXIT_FOUND : result == CLEAN ? 0 : EXIT_INCONCLUSIVE;
}

/* --- mutants --------------------------------------------------------------------------------- */

static char site_lines[MAX_SITES][64];

static bool is_wanted(int site) {
  for (int i = 0; i < options.functions; i++)
    if (strcmp(function_name(sites[site].pc), options.function[i]) == 0)
      return true;
  for (int i = 0; i < options.lines; i++)
    if (strcmp(site_lines[site], options.line[i]) == 0)
      return true;
  return options.functions + options.lines == 0;
}

static bool same_place(int a, int b) {
  return sites[a].order == sites[b].order && strcmp(site_lines[a], site_lines[b]) == 0 &&
         strcmp(sites[a].operation, sites[b].operation) == 0;
}

/* The orders to which one can be weakened by one step; -1 ends them. */
static const int *weaker(int order) {
  static const int none[] = {RELAXED, -1}, half[] = {ACQUIRE, RELEASE, -1},
                   total[] = {ACQ_REL, RELAXED, -1};
  return order == ACQ_REL ? half : order == SEQ_CST ? total : none;
}

/* Explores until a scenario shows the mutant. Without it all executions have an end. */
static bool is_caught(int site, int order, const uintptr_t *pcs, int count) {
  mutant_pcs = pcs;
  mutant_pc_count = count;
  mutant_from = sites[site].order;
  mutant_to = order;
  bool caught = false;
  printf("%s mutant %s %s %s: %s -> %s: ", options.algorithm, function_name(sites[site].pc),
         site_lines[site], sites[site].operation, order_name(sites[site].order), order_name(order));
  fflush(stdout);
  for (int i = 0; i < options.chosen_count && !caught; i++) {
    struct statistics statistics;
    const enum outcome outcome = explore_one(options.chosen[i], &statistics);
    if (outcome != CLEAN) {
      printf("caught by %s (%.90s)\n", options.chosen[i]->name,
             outcome == FOUND ? finding_text() : "an execution without an end");
      caught = true;
    }
  }
  if (!caught)
    puts("MISSED");
  fflush(stdout);
  mutant_pc_count = 0;
  return caught;
}

static int try_mutants(void) {
  for (int i = 0; i < options.chosen_count; i++) {
    struct statistics statistics;
    enum outcome result = explore_one(options.chosen[i], &statistics);
    if (result != CLEAN) {
      print_result(options.chosen[i], result, &statistics);
      return result == FOUND ? EXIT_FOUND : EXIT_INCONCLUSIVE;
    }
  }
  uintptr_t pcs[MAX_SITES];
  bool done[MAX_SITES] = {false};
  int caught = 0, missed = 0;
  for (int i = 0; i < site_count; i++)
    pcs[i] = sites[i].pc;
  source_lines(pcs, site_count, site_lines);
  for (int i = 0; i < site_count; i++) {
    if (done[i] || !is_wanted(i))
      continue;
    int count = 0;
    for (int j = i; j < site_count; j++)
      if (same_place(i, j)) {
        done[j] = true;
        pcs[count++] = sites[j].pc;
      }
    for (const int *order = weaker(sites[i].order); *order >= 0; order++)
      is_caught(i, *order, pcs, count) ? caught++ : missed++;
  }
  printf("%s: %d mutants caught, %d missed\n", options.algorithm, caught, missed);
  return missed ? EXIT_FOUND : 0;
}

int main(int count, char **arguments) {
  (void)count;
  parse(arguments);
  /* The runtime compares stack sizes; these are the same for all, whatever the shell says. */
  const struct rlimit stack = {8 << 20, 8 << 20};
  setrlimit(RLIMIT_STACK, &stack);
  load_symbols();
  catch_crashes();
  fibers_start();
  scenarios_start(options.algorithm);
  relock_wait_spins();
  for (int i = 0; i < MAX_THREADS; i++)
    fiber_call(&threads[i], scenarios_warm_up);
  if (options.trail)
    return replay_chosen();
  return options.mutants ? try_mutants() : explore_chosen();
}
