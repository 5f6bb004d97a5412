/* SPDX-License-Identifier: MIT
 *
 * Signals that come at each step of threads whose sections run with their client's thread pointer,
 * wherever that is. Each thread has thread-local variables, and so has each section and handler:
 * those of its own thread, and nobody else's.
 */
#include "scenarios.h"

#include "../../../runtime/base/atomic.h"
#include "../../../runtime/base/identity.h"
#include "../../../runtime/base/os.h"

enum { SIGNAL = 10 };

static relock_mutex_t mutex;
static uint32_t steps; /* so that there is a step within what uses an identity */
static uint32_t handled[MAX_THREADS];
static uint32_t arrived;
static int counter;
static bool signalled;
static struct job {
  int id;
} jobs[MAX_THREADS];

static __thread int whose;   /* number + 1 */
static __thread int scratch; /* as errno: who uses it restores it */

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

/* What a section and a handler do with their thread's identity. A handler may come first of all. */
static void use_identity(int id, int value) {
  require(whose == id + 1 || whose == 0, "this runs with another thread's pointer");
  const int before = scratch;
  scratch = value;
  relock_add_relaxed(&steps, 1);
  require(scratch == value, "others have written thread-local variables");
  scratch = before;
}

static void handle(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  const int id = running_thread();
  use_identity(id, -1);
  relock_store_release(&handled[id], 1);
  relock_os->futex_wake(&handled[id], 1);
}

static void let_others(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
}

static void set_up(void) {
  static bool installed;
  if (!installed) { /* else the runtime's trampoline is in front of them */
    set_handler(SIGNAL, handle);
    set_handler(RELOCK_SIGNAL_SETXID, let_others);
    installed = true;
  }
  require(relock_identity_switchable(), "sections do not run with their client's pointer");
  relock_mutex_init(&mutex, NULL, scenarios_class());
  counter = 0;
  signalled = false;
  steps = arrived = 0;
  for (int i = 0; i < MAX_THREADS; i++) {
    jobs[i].id = i;
    handled[i] = 0;
  }
  name_memory("mutex", &mutex, sizeof mutex);
  name_memory("handled", handled, sizeof handled);
}

/* --- sections, and threads -------------------------------------------------------------------- */

static int section(void *context) {
  const struct job *job = context;
  section_begins(job->id);
  counter++;
  use_identity(job->id, job->id + 1);
  section_ends();
  return job->id + 7;
}

/* The others wait behind this one, and so need no deviation for that. */
static int section_of_second(void *context) {
  for (uint32_t found; (found = relock_load_acquire(&arrived)) < 2;)
    relock_os->futex_wait(&arrived, found, CLOCK_MONOTONIC, NULL);
  return section(context);
}

/* On a thread that combines, the first one's section may come next. */
static int section_of_third(void *context) {
  signal_thread(0, SIGNAL);
  signalled = true;
  return section(context);
}

/* For its own thread's handler, wherever it runs. */
static void await_handler(void) {
  while (!relock_load_acquire(&handled[0]))
    relock_os->futex_wait(&handled[0], 0, CLOCK_MONOTONIC, NULL);
}

static int section_that_waits(void *context) {
  if (signalled)
    await_handler();
  return section(context);
}

static int section_that_waits_in_any_case(void *context) {
  await_handler();
  return section(context);
}

static void execute(int id, relock_section_t of) {
  whose = id + 1;
  require(relock_execute(&mutex, of, &jobs[id]) == id + 7,
          "relock_execute returned another section's result");
  require(whose == id + 1, "a thread goes on with another one's pointer");
}

static void hold(int id) {
  whose = id + 1;
  relock_mutex_lock(&mutex);
  section(&jobs[id]);
  relock_mutex_unlock(&mutex);
}

static void arrive(void) {
  relock_add_acq_rel(&arrived, 1);
  relock_os->futex_wake(&arrived, 1);
}

/* The first thread gets a signal while it waits, and its section comes before or after that. */
static void signal_client(int id) {
  static const relock_section_t of[] = {section, section_of_second, section_of_third};
  if (id != 1)
    arrive();
  execute(id, of[id]);
}

/* And the third one, which may run that section. */
static void signal_runner(int id) {
  signal_client(id);
  if (id == 1)
    signal_thread(2, SIGNAL);
}

static void signal_awaited(int id) {
  if (id > 0) {
    signal_client(id);
  } else {
    arrive();
    execute(id, section_that_waits);
  }
}

static void signal_holder(int id) {
  hold(id);
  if (id == 1)
    signal_thread(0, SIGNAL);
}

/* With a server, which runs all sections. */
static void signal_client_of_server(int id) {
  execute(id, section);
  if (id == 1)
    signal_thread(0, SIGNAL);
}

static void signal_awaited_of_server(int id) {
  if (id == 1)
    signal_thread(0, SIGNAL);
  else
    execute(id, section_that_waits_in_any_case);
}

static const char *all_3_ran(void) { return counter == 3 ? NULL : "a section did not run once"; }

static const char *both_ran(void) { return counter == 2 ? NULL : "a section did not run once"; }

static const char *awaited_ran(void) {
  return !handled[0] ? "no handler has run" : counter != 1 ? "a section did not run once" : NULL;
}

const struct scenario scenarios_of_signals[] = {
    {"signal-client", "a client gets a signal, and its section may come next", 3, 2, set_up,
     signal_client, all_3_ran},
    {"signal-runner", "so does who runs that section", 3, 2, set_up, signal_runner, all_3_ran},
    {"signal-awaited", "a section waits for a handler of its own thread", 3, 2, set_up,
     signal_awaited, all_3_ran},
    {"signal-holder", "one of two holders gets a signal", 2, 0, set_up, signal_holder, both_ran},
    {"signal-server", "a client of a server gets a signal", 2, 2, set_up, signal_client_of_server,
     both_ran},
    {"signal-server-awaited", "a section on a server waits for a handler", 2, 2, set_up,
     signal_awaited_of_server, awaited_ran},
};
const int scenario_of_signals_count = sizeof scenarios_of_signals / sizeof *scenarios_of_signals;
