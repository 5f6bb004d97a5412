/* SPDX-License-Identifier: MIT
 *
 * A program as far as its locks go: threads that compute, sleep and take locks of some classes,
 * as a profile of it says. `relock advise` writes such files, README.md says what is in them, and
 * the simulated machine runs them with other locks.
 */
#ifndef RELOCK_SIM_PROGRAM_H
#define RELOCK_SIM_PROGRAM_H

#include "buckets.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_CLASSES = 64, SIM_MAX_GROUPS = 64, SIM_MAX_OBJECTS = 4096 };
enum { SIM_MAX_PARTS = 64 }; /* of a distribution */

/* What happens with which weight. */
struct sim_choice {
  unsigned count;
  struct {
    double value, until; /* until: the weights up to here, of all */
  } parts[SIM_MAX_PARTS];
};

static inline double sim_choice_weight(const struct sim_choice *choice, unsigned part) {
  const double all = choice->parts[choice->count - 1].until;
  const double before = part ? choice->parts[part - 1].until : 0;
  return all > 0 ? (choice->parts[part].until - before) / all : 1.0 / choice->count;
}
static inline double sim_choice_mean(const struct sim_choice *choice) {
  double mean = 0;
  for (unsigned i = 0; i < choice->count; i++)
    mean += choice->parts[i].value * sim_choice_weight(choice, i);
  return mean;
}

struct sim_class {
  char name[128];
  const char *algorithm; /* `rcl`, `rcl:2` on its second server; null: the C library's mutex */
  unsigned objects, lines;
  double delegated;          /* of its sections, from 0 to 1 */
  struct sim_choice section; /* ns of computing */
  struct sim_choice object;  /* those that are taken more often than others, from 0 on */
  unsigned inner_count;
  struct {
    unsigned lock_class;
    double times; /* in a section of this one */
  } inner[SIM_MAX_CLASSES];
};

struct sim_group {
  char name[128];
  unsigned threads;
  double work;              /* ns of computing between two sections, in the mean */
  double sleep, sleeps;     /* ns of each; how many for a section */
  struct sim_choice visits; /* classes */
};

struct sim_program {
  unsigned class_count, group_count;
  struct sim_class classes[SIM_MAX_CLASSES];
  struct sim_group groups[SIM_MAX_GROUPS];
};

/* Reads a program's file. False: it says why on standard error, with the line. */
bool sim_program_read(const char *file, struct sim_program *program);
/* Gives classes their algorithms: `store.lock=rcl:2,queue.lock=mcs`; the others keep theirs. Null,
 * or what is wrong with it. */
const char *sim_program_choose(struct sim_program *program, const char *choice);

struct sim_machine;
/* Runs it and prints the result. ns: for which sections are counted; 0: as it needs. Even: the time
 * between sections is always the same. */
void sim_program_point(const struct sim_machine *machine, const struct sim_program *program,
                       const char *choice, uint64_t ns, bool even);

/* --- the run; program_load.c --------------------------------------------------------------- */

struct sim_program_load {
  const struct sim_program *program;
  uint64_t cycles; /* for which sections are counted */
  uint64_t mhz;
  bool even; /* the time between sections is always the same; otherwise it is exponential */
};

struct sim_class_counts {
  uint64_t sections;
  uint64_t latency, inside; /* cycles: from asking to having it done; of that, in the section */
  uint64_t contended;       /* of the C library's mutex: somebody had it */
  uint64_t handovers;       /* sections on an object that another thread had before */
};

/* The first thread of the machine, whose argument is a struct sim_program_load. */
void *sim_program_run(void *load);
/* After sim_run(). Of each group, visits; of each class. False: a section was lost or run twice. */
bool sim_program_count(uint64_t *visits, struct sim_class_counts *classes);
/* Of a thread, by class. */
unsigned sim_program_threads(void);
const struct sim_class_counts *sim_program_thread(unsigned number, const struct sim_group **group);
/* How many sections of a class lasted so many cycles, by bucket (buckets.h). */
const uint64_t *sim_program_histogram(unsigned lock_class);

#endif
