/* SPDX-License-Identifier: MIT
 *
 * The processors of a simulated machine and the threads on them: whose turn it is, and what the
 * operating system does about more threads than processors.
 *
 * Each thread that has a processor has a clock, and the one whose clock is the earliest goes on: so
 * everything that threads can see of each other happens in the order of its times. The same input
 * gives the same run.
 */
#ifndef RELOCK_SIM_PROCESSORS_H
#define RELOCK_SIM_PROCESSORS_H

#include "coherence.h"
#include "fiber.h"
#include "machine.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_THREADS = 4096, SIM_MAX_STORES = 128 };

/*   READY ---> RUNNING ---> ASLEEP ---> READY      sleeps in the system
 *     ^        |     ^
 *     +--------+     +----> WATCHING               spins until a line changes
 *    turn is over           keeps its processor
 */
enum sim_state { SIM_READY, SIM_RUNNING, SIM_WATCHING, SIM_ASLEEP, SIM_ENDED };

struct sim_watch {
  struct sim_watch *previous, *next; /* in the line's list */
  struct sim_line *line;
  struct sim_thread *thread;
};

struct sim_thread {
  const void *at; /* in the code, its latest access; see explain.h */
  unsigned number;
  const char *name;
  enum sim_state state;
  struct sim_fiber fiber;
  void *(*run)(void *);
  void *argument;
  bool daemon; /* nobody waits for its end */

  uint64_t clock;
  unsigned processor;      /* the last one */
  int bound;               /* to this processor; -1: none */
  uint64_t ready_at;       /* in the queue since */
  struct sim_thread *next; /* in the queue, or asleep on the same hash of words */

  /* When something happens to it without the others: it runs, its watch or sleep ends. The place
   * among all that wait for a time; -1: none. */
  uint64_t due;
  int place;

  const uint32_t *word; /* asleep on it */
  bool timed_out;

  /* The stores that are not done yet, by when they will be. */
  uint64_t stores[SIM_MAX_STORES];
  unsigned first_store, store_count;
  uint64_t stores_done; /* the last of them */

  /* The loop that it may be spinning in: what it has done since its last pause. */
  uint64_t paused_at, period;
  bool looked; /* at something that others change */
  bool idle;   /* and at nothing that its core did not have; nor a call of the system */
  uint8_t writes, last_writes; /* to the lines that it looked at, all together; to the last one */
  uintptr_t round, earlier;    /* a hash of all its accesses, in this round and in the one before */
  unsigned watch_count, watch_room;
  struct sim_watch *watches;
};

extern struct sim_thread *sim_current; /* null: nothing is simulated */
extern uint64_t sim_switches;          /* of threads on processors */
uint64_t sim_busy_cycles(void);        /* of all processors together, in which they ran threads */

void sim_processors_start(const struct sim_machine *machine);
/* bound: to a processor, or -1. It begins at the time of whoever starts it. */
struct sim_thread *sim_thread_start(void *(*run)(void *), void *argument, const char *name,
                                    int bound, bool daemon);
void sim_thread_bind(int processor);
/* Runs all threads until the last one has ended that is no daemon. If nobody can go on, or the
 * limit has passed, it says who was where and exits with 3. */
void sim_run(uint64_t limit_ns);

/* Instructions of the current thread. */
void sim_work(uint64_t cycles);
/* Before anything that other threads can see. */
void sim_turn(void);
/* Gives the processor to others that wait for it. */
void sim_offer(void);

/* Sleeps until sim_thread_wake() or until that time (UINT64_MAX: never). True: the time came. */
bool sim_sleep(uint64_t until);
void sim_thread_wake(struct sim_thread *thread);
/* What that takes for whoever wakes it, beside the call. */
uint64_t sim_waking(const struct sim_thread *thread);
/* system.c: its time has come, and nobody can wake it any more. */
void sim_thread_overslept(struct sim_thread *thread);

/* A pause in a loop: of up to so many, it took as many as this says. More than one if nothing could
 * change until then. */
uint32_t sim_pauses(uint32_t most);
/* What the loop does. */
void sim_loop_looks(struct sim_line *line);
static inline void sim_loop_accesses(const struct sim_line *line, bool hit) {
  sim_current->round = sim_current->round * 31 + (uintptr_t)line;
  sim_current->idle &= hit;
}
static inline void sim_loop_acts(void) {
  if (sim_current)
    sim_current->idle = false;
}
/* The processor does nothing until sim_line_lost() of the line, which need be none of memory, or
 * until its thread's turn is over. */
void sim_stall(struct sim_line *line);
/* Every other thread that runs is interrupted for so long. */
void sim_interrupt_others(uint64_t cycles);

static inline unsigned sim_current_core(const struct sim_machine *machine) {
  return sim_core_of(machine, sim_current->processor);
}

#endif
