/* SPDX-License-Identifier: MIT
 *
 * The scenarios, which are built with the runtime's instrumentation, and what they need of the
 * explorer.
 */
#ifndef RELOCK_EXPLORE_SCENARIOS_H
#define RELOCK_EXPLORE_SCENARIOS_H

#include "engine.h"

#include "../../../runtime/base/signals.h"

#include <relock/relock.h>

extern const struct scenario scenarios[];
extern const int scenario_count;

/* Those that have no mutex of the algorithm, whatever that is (printed.c, barriers.c, teams.c):
 * only where named. */
extern const struct scenario scenarios_apart[], scenarios_of_barriers[], scenarios_of_teams[];
extern const int scenario_apart_count, scenario_of_barriers_count, scenario_of_teams_count;

/* Of containers (containers.c): only where named, too. */
extern const struct scenario scenarios_contained[];
extern const int scenario_contained_count;

/* Of signals, with sections that run with their client's pointer (signalled.c): the same. */
extern const struct scenario scenarios_of_signals[];
extern const int scenario_of_signals_count;

/* Makes the class of the mutexes; ends the program if there is no such algorithm. */
void scenarios_start(const char *algorithm);
relock_class_t *scenarios_class(void);
/* Called on the fiber of each thread, before the first execution: makes its thread record. */
void scenarios_warm_up(void);

/* Before the first execution of a scenario. With one nobody spins; with ROOM there is one for each
 * thread, and with CROWD there are several, but more threads. */
enum { CROWD = 3, ROOM = 64 };
void set_processors(unsigned number);

/* Whether servers get managers: in this scenario. */
void set_managers(bool are_started);

/* The seconds of a deadline that does not pass. Any other can pass at any time, which hides a lost
 * wake-up. */
enum { NEVER = 1000000 };

/* The explorer's, and not instrumented: what a section does must not be seen by others. */
void section_begins(int client);
void section_ends(void);
void free_memory(void *memory, size_t size);

/* Events. The calling thread ends, as far as the runtime hears of it; it goes on as a thread that
 * is new to the runtime, once in an execution, with that or without. */
void end_thread(void);
void begin_thread(void);
/* pthread_cancel() */
void cancel_thread(int id);
/* Whether the execution goes on as the child, where the calling thread is the only one. */
bool fork_process(void);
bool is_child(void);

/* Before the first execution: what signal_thread() calls on another thread, or on the calling one,
 * between two of its steps. From then on sections run with their client's thread pointer. */
void set_handler(int number, relock_handler_t *handler);
void signal_thread(int id, int number);
/* The thread on whose stack this runs, whoever's pointer it has. */
int running_thread(void);

__attribute__((noreturn)) void wrong(const char *what);

#endif
