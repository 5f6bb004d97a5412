/* SPDX-License-Identifier: MIT
 *
 * A server's clients and its servicing threads, server/client.c and server/servicing.c, built once
 * more, as part_pool.c is. Here a servicing thread goes over its slots and sleeps, without the
 * hundreds of yields in between; it has begun already, and clients have their slots.
 */
#define relock_slots_end part_slots_end
#define relock_clients part_clients
#define relock_client_ends part_client_ends
#define relock_server_wake part_server_wake
#define relock_client_execute part_client_execute
#define relock_client_post part_client_post
#define relock_client_is_served part_client_is_served
#define relock_client_settle part_client_settle
#define relock_clients_after_fork part_clients_after_fork
#define relock_rcl part_rcl
#define relock_servicing_thread part_servicing_loop
#include "../../../runtime/base/wait.h"
static bool wait_again(struct relock_wait *wait);
#define relock_wait_again wait_again
#define outcome client_outcome
#ifndef PART_OF /* seeded.sh has another one */
#define PART_OF "../../../runtime/server/client.c"
#endif
#include PART_OF
#include "../../../runtime/server/servicing.c"
#undef relock_wait_again
#undef outcome

#include "parts.h"

enum { CLIENTS = 2 };

static relock_mutex_t mutex, other;
static struct relock_request slots[CLIENTS][2];
static struct relock_server *const server = &relock_servers[0];
static int counter, times[CLIENTS];
static bool patient; /* no client withdraws */

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

/* A patient client sleeps until it is served. */
static bool wait_again(struct relock_wait *wait) {
  if (!patient || wait->spins > 0)
    return relock_wait_again(wait);
  uint32_t *state = &slots[relock_thread_self()->rcl_number - 1][0].state;
  relock_os->futex_wait(state, RELOCK_SLOT_POSTED, CLOCK_MONOTONIC, NULL);
  return true;
}

/* --- servicing threads ----------------------------------------------------------------------- */

static void *serve_and_sleep(void *place) {
  struct relock_servicer *self = place;
  struct relock_run running = {NULL, NULL};
  self->here = &errno;
  self->running = &running.request;
  self->record = relock_thread_self();
  for (;;) {
    if (!serve_all(self)) {
      relock_os->yield();
      sleep_until_posted(self);
    }
    for (int i = 0; patient && i < CLIENTS; i++)
      relock_os->futex_wake(&slots[i][0].state, 1);
  }
  return NULL;
}

/* Sleeps until it is activated. */
static void *serve_when_active(void *place) {
  struct relock_servicer *self = place;
  while (relock_load_acquire(&self->state) == RELOCK_SERVICER_PREPARED)
    relock_os->futex_wait(&self->state, RELOCK_SERVICER_PREPARED, CLOCK_MONOTONIC, NULL);
  return serve_and_sleep(self);
}

static void start_servicers(uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    relock_os->start_thread(serve_and_sleep, &server->servicer[i], "relock-server");
}

static void set_up_server(uint32_t threads, bool patience) {
  relock_mutex_init(&mutex, NULL, scenarios_class());
  relock_mutex_init(&other, NULL, scenarios_class());
  relock_mutex_lock(&mutex); /* which resolves its class */
  relock_mutex_unlock(&mutex);
  relock_words_served_by(&relock_served);
  *server = (struct relock_server){.slots = slots,
                                   .state = RELOCK_SERVER_RUNNING,
                                   .active = threads,
                                   .places = threads,
                                   .unusual = threads > 1,
                                   .stack = SIZE_MAX,
                                   .cpu = -1,
                                   .homed = true};
  for (uint32_t i = 0; i < threads; i++) {
    server->servicer[i].server = server;
    server->servicer[i].state = RELOCK_SERVICER_ACTIVE;
  }
  memset(slots, 0, sizeof slots);
  memset(times, 0, sizeof times);
  counter = 0;
  part_slots_end = part_clients = CLIENTS;
  patient = patience;
  relock_tuning.server_lone = 0;
  name_memory("server", server, sizeof *server);
  name_memory("slots", slots, sizeof slots);
  name_memory("mutex", &mutex, sizeof mutex);
}

/* No client has a slot yet. */
static void set_up_new(void) {
  set_up_server(1, true);
  part_slots_end = part_clients = 0;
}

static void set_up_first(void) {
  set_up_server(1, true);
  relock_first_thread_lives = 1;
  relock_servers_end = 1;
}

static void set_up_patient(void) { set_up_server(1, true); }
static void set_up_impatient(void) { set_up_server(1, false); }
static void set_up_two(void) { set_up_server(2, true); }

static void set_up_prepared(void) {
  set_up_server(1, true);
  server->places = 2;
  server->servicer[1].server = server;
  server->servicer[1].state = RELOCK_SERVICER_PREPARED;
}

/* The server has kept the word of its last section. */
static void set_up_kept(void) {
  set_up_server(1, true);
  mutex.relock_private.word = relock_served_by(server);
}

/* --- clients --------------------------------------------------------------------------------- */

static int section(void *context) {
  section_begins(*(int *)context);
  counter++;
  times[*(int *)context]++;
  section_ends();
  return *(int *)context + 7;
}

static struct relock_thread *client(int id) {
  struct relock_thread *self = relock_thread_self();
  self->rcl_number = (uint32_t)id + 1;
  self->rcl_skip = 0;
  return self;
}

static void ask_as(int id, struct relock_thread *self) {
  const struct relock_call call = {section, &id, 0, false};
  int result;
  if (!part_client_execute(&mutex, scenarios_class(), self, &call, &result))
    result = rcl_execute(&mutex, self, &call);
  require(result == id + 7, "a request has another one's result");
}

static void ask(int id) { ask_as(id, client(id)); }

static void ask_anew(int id) {
  start_servicers(1);
  ask_as(id, relock_thread_self());
}

/* A server that sleeps on does not let the process end. */
static void sleep_or_end(int id) {
  if (id == 0)
    sleep_until_posted(&server->servicer[0]);
  else
    relock_servers_first_thread(false);
}

/* Nobody asks the server again before the request is served. */
static void post_and_settle(int id) {
  struct relock_thread *self = client(id);
  bool parked;
  const struct relock_call call = {section, &id, sizeof id, false};
  require(part_client_post(server, &mutex, self, &call, false), "a request is not posted");
  while (!part_client_is_served(server, self))
    relock_os->futex_wait(&slots[id][0].state, RELOCK_SLOT_POSTED, CLOCK_MONOTONIC, NULL);
  require(times[id] > 0, "a section that was run has not been run");
  part_client_settle(server, self, &parked);
}

static void hold(int id) {
  relock_mutex_lock(&mutex);
  section(&id);
  relock_mutex_unlock(&mutex);
}

static void ask_one(int id) {
  if (id == 0)
    start_servicers(1);
  ask(id);
}
static void ask_two(int id) {
  if (id == 0)
    start_servicers(2);
  ask(id);
}
static void ask_or_activate(int id) {
  if (id == 0) {
    start_servicers(1);
    relock_os->start_thread(serve_when_active, &server->servicer[1], "relock-server");
    ask(id);
  } else {
    require(relock_pool_start(server), "the prepared thread is not activated");
  }
}
static void ask_twice(int id) {
  start_servicers(1);
  ask(id);
  ask(id);
}
static void post_one(int id) {
  start_servicers(1);
  post_and_settle(id);
  post_and_settle(id);
}
static void ask_and_hold(int id) {
  if (id == 0)
    ask_one(id);
  else
    hold(id);
}
static int other_section(void *context) {
  (void)context;
  return 0;
}
static void ask_for_other(int id) {
  struct relock_thread *self = client(id);
  const struct relock_call call = {other_section, NULL, 0, false};
  int result;
  if (!part_client_execute(&other, scenarios_class(), self, &call, &result))
    rcl_execute(&other, self, &call);
}

/* The slot of a request has another mutex behind it, or before. */
static void ask_other_behind(int id) {
  if (id == 0) {
    ask_one(id);
    ask_for_other(id);
  } else {
    hold(id);
  }
}
static void ask_other_before(int id) {
  if (id == 0) {
    start_servicers(1);
    ask_for_other(id);
    ask(id);
  } else {
    hold(id);
  }
}
static void ask_twice_and_hold(int id) {
  if (id == 0)
    ask_twice(id);
  else
    hold(id);
}

static const char *ran(int first, int second) {
  return times[0] == first && times[1] == second && counter == first + second
             ? NULL
             : "a section was not run once";
}
static const char *ran_00(void) { return ran(0, 0); }
static const char *ran_10(void) { return ran(1, 0); }
static const char *ran_20(void) { return ran(2, 0); }
static const char *ran_11(void) { return ran(1, 1); }
static const char *ran_21(void) { return ran(2, 1); }

const struct scenario scenarios_of_server[] = {
    {"part-ask", "a request to a server that goes to sleep", 1, 0, set_up_patient, ask_one, ran_10},
    {"part-ask-twice", "two requests in a row", 1, 1, set_up_patient, ask_twice, ran_20},
    {"part-ask-both", "two clients' requests", 2, 1, set_up_patient, ask_one, ran_11},
    {"part-ask-anew", "a client that has no slot yet", 1, 1, set_up_new, ask_anew, ran_10},
    {"part-first-ends", "the first thread ends, and a server goes to sleep", 2, 1, set_up_first,
     sleep_or_end, ran_00},
    {"part-post", "two requests that are waited for later", 1, 1, set_up_patient, post_one, ran_20},
    {"part-withdraw", "a request that is withdrawn", 1, 1, set_up_impatient, ask_one, ran_10},
    {"part-withdraw-twice", "two in a row", 1, 2, set_up_impatient, ask_twice, ran_20},
    {"part-withdraw-both", "two clients' that are", 2, 2, set_up_impatient, ask_one, ran_11},
    {"part-two", "a request to a server with two threads", 1, 1, set_up_two, ask_two, ran_10},
    {"part-two-both", "two clients' requests to one", 2, 2, set_up_two, ask_two, ran_11},
    {"part-activate", "a second thread is activated while the first serves", 2, 2, set_up_prepared,
     ask_or_activate, ran_10},
    {"part-hold", "a request and a holder", 2, 1, set_up_patient, ask_and_hold, ran_11},
    {"part-kept", "a request and a holder, of a word that the server keeps", 2, 1, set_up_kept,
     ask_and_hold, ran_11},
    {"part-kept-other", "the same, and then a request for another mutex", 2, 1, set_up_kept,
     ask_other_behind, ran_11},
    {"part-kept-before", "the same, and one before", 2, 1, set_up_kept, ask_other_before, ran_11},
    {"part-kept-twice", "the same with two requests", 2, 2, set_up_kept, ask_twice_and_hold,
     ran_21},
};
const int scenario_of_server_count = sizeof scenarios_of_server / sizeof *scenarios_of_server;
