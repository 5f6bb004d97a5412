/* SPDX-License-Identifier: MIT
 *
 * The pool of a server, server/pool.c, built once more, so that scenarios call its parts by
 * themselves: in front of a whole server they are out of the explorer's reach. A mutant weakens all
 * copies of a source line, and so this one, too.
 */
#define relock_pool_report part_pool_report
#define relock_pool_start part_pool_start
#define relock_pool_stay part_pool_stay
#define relock_pool_waits part_pool_waits
#define relock_pool_retire part_pool_retire
#define relock_pool_thread_ends part_pool_thread_ends
#define relock_servicing_thread part_servicing_thread
#define relock_watchdog_look part_watchdog_look
#ifndef PART_OF /* seeded.sh has another one */
#define PART_OF "../../../runtime/server/pool.c"
#endif
#include PART_OF

#include "parts.h"

static struct relock_server server;
static struct relock_request slots[1][2];
static int places; /* what those write that have a place of the server, one after the other */

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

static void set_up(void) {
  server = (struct relock_server){.slots = slots, .cpu = -1, .homed = true};
  slots[0][0] = (struct relock_request){.state = RELOCK_SLOT_FREE};
  places = 0;
  name_memory("server", &server, sizeof server);
  name_memory("slots", slots, sizeof slots);
}

/* --- a server starts and retires ------------------------------------------------------------- */

/* As that of a server that finds nothing to do. */
void *part_servicing_thread(void *argument) {
  struct relock_servicer *self = argument;
  places++;
  relock_store_release(&server.state, RELOCK_SERVER_RUNNING);
  require(part_pool_retire(self), "the only thread of a server does not retire");
  return NULL;
}

static void start(int id) {
  (void)id;
  require(part_pool_start(&server), "a server is not started");
}

static void set_up_managed(void) {
  set_up();
  set_managers(true);
}

/* Whoever has retired the server has ended its manager: nobody else would. */
static const char *has_no_manager(void) {
  const bool retired = server.servicer[0].state == RELOCK_SERVICER_ENDING;
  return retired && server.pool_word == RELOCK_WORD_FREE &&
                 (server.manager == MANAGER_ASLEEP || server.manager == MANAGER_AWAKE)
             ? "a server has retired, and its manager has not"
             : NULL;
}

/* --- a report and a manager that goes to sleep ----------------------------------------------- */

static uint32_t ended;

/* Without the time. What lasts is found once; a manager that ticks on would make executions without
 * an end. */
bool part_watchdog_look(const struct relock_servicer *servicer, struct relock_stay *stay) {
  if (!is_in_section(servicer))
    return false;
  while (stay->since && !relock_load_relaxed(&ended))
    relock_os->futex_wait(&ended, 0, CLOCK_MONOTONIC, NULL);
  stay->since = 1;
  return true;
}

/* A section that is about to begin, a thread for the others, and a manager that sees nothing yet. */
static void set_up_quiet(void) {
  set_up();
  server.state = RELOCK_SERVER_RUNNING;
  server.active = 1;
  server.places = 2;
  for (int i = 0; i < 2; i++)
    server.servicer[i].server = &server;
  server.servicer[0].state = RELOCK_SERVICER_ACTIVE;
  server.servicer[0].announced = 1;
  server.servicer[1].state = RELOCK_SERVICER_PREPARED;
  server.manager = MANAGER_AWAKE;
  ended = 0;
}

/* The manager has seen nothing yet, and goes to sleep. */
static void set_up_tired(void) {
  set_up_quiet();
  slots[0][0].state = RELOCK_SLOT_POSTED;
}

static void report_to_sleeper(int id) {
  if (id == 0) {
    go_to_sleep(&server);
    require(sleep_until_reported(&server), "the manager is to end");
  } else {
    part_pool_report(&server);
  }
}

/* Whoever was prepared ends the section and the manager; nobody else does. */
static void report_to_manager(int id) {
  if (id == 0) {
    require(sleep_prepared(&server.servicer[1]), "a prepared thread is to end");
    require(places == 1, "an activated thread does not see what was there before");
    relock_store_relaxed(&slots[0][0].state, RELOCK_SLOT_DONE);
    end_manager(&server);
    relock_store_relaxed(&ended, 1);
    relock_os->futex_wake(&ended, 1);
  } else if (id == 1) {
    relock_store_relaxed(&slots[0][0].state, RELOCK_SLOT_POSTED);
    part_pool_report(&server);
  } else {
    places++;
    manage(&server);
  }
}

const struct scenario scenarios_of_pool[] = {
    {"pool-start", "a server that retires at once", 1, 2, set_up_managed, start, has_no_manager},
    {"pool-sleep", "a report comes, and the manager had just seen nothing", 2, 0, set_up_tired,
     report_to_sleeper, NULL},
    {"pool-report", "a report comes while the manager goes to sleep", 3, 3, set_up_quiet,
     report_to_manager, NULL},
};
const int scenario_of_pool_count = sizeof scenarios_of_pool / sizeof *scenarios_of_pool;
