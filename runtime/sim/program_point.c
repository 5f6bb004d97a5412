/* SPDX-License-Identifier: MIT
 *
 * One choice of locks for a program (program.h), in a process of its own: how long it is run, and
 * what it prints, an object of JSON.
 */
#include "point.h"
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Between two sections of the program, if threads wait for nothing but their turn: in a lock, or on
 * a processor. */
static double least_ns(const struct sim_machine *machine, const struct sim_program *program) {
  double rate = 0, threads = 0, in_lock = 0, taken[SIM_MAX_CLASSES] = {0};
  for (unsigned i = 0; i < program->group_count; i++) {
    const struct sim_group *group = &program->groups[i];
    rate += group->threads / (group->work + group->sleep * group->sleeps + 1);
    threads += group->threads;
  }
  for (unsigned i = 0; i < program->group_count; i++) {
    const struct sim_group *group = &program->groups[i];
    const double part = group->threads / (group->work + group->sleep * group->sleeps + 1) / rate;
    for (unsigned j = 0; j < group->visits.count; j++)
      taken[(unsigned)group->visits.parts[j].value] += part * sim_choice_weight(&group->visits, j);
  }
  for (unsigned i = 0; i < program->class_count; i++)
    in_lock = fmax(in_lock, taken[i] * sim_choice_mean(&program->classes[i].section) /
                                program->classes[i].objects);
  return fmax(in_lock, fmax(threads / sim_processors(machine), 1) / rate);
}

/* Enough for some ten thousand sections in all, some of each thread and, where threads outnumber
 * the processors, some turns of each. */
static uint64_t enough_ns(const struct sim_machine *machine, const struct sim_program *program) {
  enum { SECTIONS = 40000, OF_EACH = 20, TURNS = 10, MOST_SECTIONS = 10 };
  double threads = 0;
  for (unsigned i = 0; i < program->group_count; i++)
    threads += program->groups[i].threads;
  const double least = least_ns(machine, program);
  double ns = fmax(SECTIONS, OF_EACH * threads) * least;
  if (threads > sim_processors(machine)) {
    const double slice = (double)sim_ns(machine, machine->slice);
    const double turns = TURNS * threads / sim_processors(machine) * slice;
    ns = fmax(ns, fmin(turns, MOST_SECTIONS * SECTIONS * least));
  }
  return (uint64_t)fmax(ns, 1e6);
}

static void print_counts(const struct sim_machine *machine, const struct sim_class_counts *counts) {
  printf("\"sections\":%" PRIu64 ",\"waiting_ns\":%" PRIu64 ",\"inside_ns\":%" PRIu64
         ",\"contended\":%" PRIu64 ",\"handovers\":%" PRIu64,
         counts->sections, sim_ns(machine, counts->latency - counts->inside),
         sim_ns(machine, counts->inside), counts->contended, counts->handovers);
}

static void print_class(const struct sim_machine *machine, const struct sim_program *program,
                        unsigned number, const struct sim_class_counts *counts) {
  printf("%s{\"name\":\"%s\",", number ? "," : "", program->classes[number].name);
  print_counts(machine, counts);
  bool first = true;
  printf(",\"histogram\":[");
  for (unsigned i = 0; i < SIM_BUCKETS; i++) {
    const uint64_t count = sim_program_histogram(number)[i];
    if (count)
      printf("%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", sim_ns(machine, sim_bucket_value(i)),
             count);
    first &= !count;
  }
  printf("]}");
}

/* What a thread had of each class. */
static void print_thread(const struct sim_machine *machine, const struct sim_program *program,
                         unsigned number) {
  const struct sim_group *group;
  const struct sim_class_counts *counts = sim_program_thread(number, &group);
  printf("%s{\"name\":\"%s\",\"classes\":[", number ? "," : "", group->name);
  bool first = true;
  for (unsigned i = 0; i < program->class_count; i++) {
    if (!counts[i].sections)
      continue;
    printf("%s{\"name\":\"%s\",", first ? "" : ",", program->classes[i].name);
    print_counts(machine, &counts[i]);
    putchar('}');
    first = false;
  }
  printf("]}");
}

static void print_program(const struct sim_machine *machine, const struct sim_program *program,
                          const char *choice, uint64_t ns) {
  uint64_t visits[SIM_MAX_GROUPS] = {0};
  struct sim_class_counts counts[SIM_MAX_CLASSES] = {0};
  if (!sim_program_count(visits, counts))
    sim_fail(3, "'%s': a section was lost or run twice", choice);
  printf("{\"type\":\"program\",\"choice\":\"%s\",\"seconds\":%.9f,\"threads\":[", choice,
         (double)ns * 1e-9);
  for (unsigned i = 0; i < program->group_count; i++)
    printf("%s{\"name\":\"%s\",\"count\":%u,\"visits\":%" PRIu64 "}", i ? "," : "",
           program->groups[i].name, program->groups[i].threads, visits[i]);
  printf("],\"computing_ns\":%" PRIu64 ",\"by_thread\":[", sim_ns(machine, sim_busy_cycles()));
  for (unsigned i = 0; i < sim_program_threads(); i++)
    print_thread(machine, program, i);
  printf("],\"classes\":[");
  for (unsigned i = 0; i < program->class_count; i++)
    print_class(machine, program, i, &counts[i]);
  puts("]}");
}

void sim_program_point(const struct sim_machine *machine, const struct sim_program *program,
                       const char *choice, uint64_t ns, bool even) {
  static struct sim_program_load load;
  ns = ns ? ns : enough_ns(machine, program);
  load = (struct sim_program_load){
      .program = program, .cycles = sim_cycles(machine, ns), .mhz = machine->mhz, .even = even};
  sim_start(machine);
  if (!sim_thread_start(sim_program_run, &load, "main", -1, true))
    sim_fail(2, "no memory for a thread");
  sim_run(SIM_LIMIT_NS + ns);
  print_program(machine, program, choice, ns);
}
