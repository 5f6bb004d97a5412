/* SPDX-License-Identifier: MIT
 *
 * What threads of the simulated machine do: sections of one lock with a delay between them, the
 * microbenchmark of Lozi's thesis (2014), section 5.2, and of `relock bench`.
 */
#ifndef RELOCK_SIM_LOAD_H
#define RELOCK_SIM_LOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_LINES = 64, SIM_MAX_MESSAGE = 1 << 15 };
/* SIM_STORE and SIM_SWAP have no lock: all threads store to one line, or compare and swap. Nor has
 * SIM_BARRIER, at which all meet: `lock` is its algorithm, "default" or "pthread". SIM_BARE
 * is sections of an algorithm by itself, see load_bare.h, SIM_BROADCAST no
 * section at all, see load_broadcast.h; nor has SIM_TEAM, see load_team.h. The last ones are
 * containers, see load_containers.h. */
enum sim_mode {
  SIM_HOLD,
  SIM_EXECUTE,
  SIM_ANY_THREAD,
  SIM_STORE,
  SIM_SWAP,
  SIM_BARRIER,
  SIM_BARE,
  SIM_BROADCAST,
  SIM_TEAM,
  SIM_COUNTER,
  SIM_STACK,
  SIM_QUEUE,
  SIM_TWO_LOCKS
};

static inline bool sim_is_container(enum sim_mode mode) { return mode >= SIM_COUNTER; }

struct sim_load {
  const char *lock; /* the algorithm, or SIM_LOCK_FREE */
  enum sim_mode mode;
  unsigned threads, lines;
  uint64_t delay;      /* cycles */
  uint64_t max_ops;    /* that a combiner runs for others, with SIM_BARE */
  uint64_t sections;   /* of each thread; 0: as many as fit */
  uint64_t cycles;     /* for which sections are counted, unless they are as many as `sections` */
  unsigned processors; /* that threads may have: thread i has the i-th, and round again */
};

struct sim_counts {
  uint64_t sections, total, worst; /* latencies in cycles */
  uint64_t cycles;                 /* in which they were counted */
  double jain;
  uint64_t p99;
};

/* The first thread of the machine, whose argument is a struct sim_load. It makes the lock, starts
 * the others and waits for them. */
void *sim_load_run(void *load);
/* After sim_run(). False: a section was lost, or run twice; a round had not one serial thread. */
bool sim_load_count(struct sim_counts *counts);

#endif
