/* SPDX-License-Identifier: MIT
 *
 * The modelled threads, the choices that an execution makes, and the search over them: depth
 * first within limits, random, or along a given trail.
 *
 * A choice has a number (how many choices the execution has made before it), and its options have
 * labels. Option 0 is the default and costs nothing. Others may be deviations, of which an
 * execution may contain a limited number; options beyond the limits are not offered. A trail
 * lists the choices that did not take the default, as NUMBER=LABEL.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread threads[MAX_THREADS];
int thread_count;
struct thread *current;
uint32_t execution;
struct limits limits = {.stale = 2, .spurious = 1, .jumps = 1, .steps = 20000};

/* What an option costs. */
enum deviation { FREE, PREEMPTION, STALE, SPURIOUS, JUMP, KINDS };

struct option {
  int label;
  enum deviation cost;
};

enum { MAX_DEPTH = 1 << 15, SPURIOUS_LABEL = 100, RANDOM_DEVIATIONS = 30 };

/* The path of the search: the choices with more than one option. */
static struct node {
  uint16_t options, chosen;
} path[MAX_DEPTH];
static int path_length, path_position;

/* The deviations from the default of this execution. */
struct turn {
  uint32_t number;
  int label;
};
static struct turn turns[MAX_DEPTH];
static int turn_count;
static uint32_t choice_number;
static int spent[KINDS], spent_in_all;

static enum { SEARCH, RANDOM, REPLAY } mode;
static uint64_t random_state;

/* The states from which the search has gone on; and whether this execution came to one of them. */
static struct seen states;
static bool came_again;
bool follow_all;
/* What the threads saw in executions that came to their end. */
static struct seen ends;

static struct turn *replayed;
static int replayed_count, replayed_position;

static enum outcome outcome;
static uint32_t steps;
static char text[4096];
static const struct scenario *scenario;

/* --- choices --------------------------------------------------------------------------------- */

static int most(enum deviation kind) {
  switch (kind) {
  case STALE:
    return limits.stale;
  case SPURIOUS:
    return limits.spurious;
  case JUMP:
    return limits.jumps;
  default:
    return limits.deviations;
  }
}

static bool affordable(enum deviation kind) {
  if (kind == FREE)
    return true;
  if (mode == RANDOM)
    return spent_in_all < RANDOM_DEVIATIONS;
  return spent_in_all < limits.deviations && spent[kind] < most(kind);
}

static uint32_t random_below(uint32_t bound) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)((random_state >> 32) % bound);
}

static __attribute__((noreturn)) void leave(void) {
  struct thread *self = current;
  current = NULL;
  fiber_switch(self, NULL);
  abort();
}

/* Ends an execution that has come to a state from which the search has gone on with the same
 * choice, having spent the same. A forked child's memory is not modelled. */
static void leave_known_state(const struct option *options, int count) {
  if (follow_all || !current || is_child())
    return;
  uint64_t digest = state_digest();
  for (int i = 0; i < KINDS; i++)
    digest = mixed(digest, (uint64_t)spent[i]);
  for (int i = 0; i < count; i++)
    digest = mixed(digest, (uint64_t)options[i].label << 8 | options[i].cost);
  if (seen_add(&states, digest))
    return;
  came_again = true;
  leave();
}

static int pick_for_search(const struct option *options, int count) {
  if (path_position == MAX_DEPTH)
    out_of_bounds();
  if (path_position == path_length) {
    leave_known_state(options, count);
    path[path_length++] = (struct node){(uint16_t)count, 0};
  }
  struct node *node = &path[path_position++];
  if (node->options != count) {
    fprintf(stderr,
            "explore: the scenario is not deterministic (choice %u has %d options, had %d)\n",
            choice_number, count, node->options);
    exit(2);
  }
  return node->chosen;
}

static int pick_at_random(const struct option *options, int count) {
  int picked = (int)random_below((uint32_t)count);
  return options[picked].cost != FREE && random_below(4) != 0 ? 0 : picked;
}

static int pick_from_trail(const struct option *options, int count) {
  if (replayed_position == replayed_count || replayed[replayed_position].number != choice_number)
    return 0;
  int label = replayed[replayed_position++].label;
  for (int i = 0; i < count; i++)
    if (options[i].label == label)
      return i;
  fprintf(stderr, "explore: the trail does not fit: choice %u has no option %d\n", choice_number,
          label);
  exit(2);
}

static int choose(struct option *options, int offered) {
  int count = 0;
  choice_number++;
  for (int i = 0; i < offered; i++)
    if (mode == REPLAY || affordable(options[i].cost))
      options[count++] = options[i];
  if (count <= 1)
    return options[0].label;
  int picked = mode == SEARCH   ? pick_for_search(options, count)
               : mode == RANDOM ? pick_at_random(options, count)
                                : pick_from_trail(options, count);
  if (options[picked].cost != FREE) {
    spent[options[picked].cost]++;
    spent_in_all++;
  }
  if (picked != 0 && turn_count < MAX_DEPTH)
    turns[turn_count++] = (struct turn){choice_number, options[picked].label};
  return options[picked].label;
}

unsigned choose_message(const uint16_t *backs, unsigned count) {
  struct option options[MAX_BACK];
  for (unsigned i = 0; i < count; i++)
    options[i] = (struct option){backs[i], i ? STALE : FREE};
  return (unsigned)choose(options, (int)count);
}

unsigned choose_sleeper(unsigned candidates) {
  struct option options[MAX_THREADS];
  for (unsigned i = 0; i < candidates; i++)
    options[i] = (struct option){(int)i, FREE};
  return (unsigned)choose(options, (int)candidates);
}

bool choose_clock_jump(void) {
  struct option options[] = {{0, FREE}, {1, JUMP}};
  return choose(options, 2) == 1;
}

bool choose_child(void) {
  struct option options[] = {{0, FREE}, {1, FREE}};
  return choose(options, 2) == 1;
}

/* --- the end of an execution ----------------------------------------------------------------- */

void finding(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  outcome = FOUND;
  leave();
}

void out_of_bounds(void) {
  outcome = INCONCLUSIVE;
  leave();
}

static __attribute__((noreturn)) void deadlock(void) {
  size_t used = (size_t)snprintf(text, sizeof text, "deadlock, or a lost wake-up:");
  for (int i = 0; i < thread_count; i++) {
    const struct thread *thread = &threads[i];
    if (thread->state == ASLEEP && used < sizeof text)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, " thread %d sleeps on %s, which is %x;",
                           i, address_name(thread->futex), *thread->futex);
    else if (thread->state == AT_BARRIER && used < sizeof text)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, " thread %d waits at the barrier;", i);
  }
  outcome = FOUND;
  leave();
}

/* --- scheduling ------------------------------------------------------------------------------ */

bool barrier_is_open(const struct thread *waiter) {
  for (int i = 0; i < thread_count; i++)
    if (&threads[i] != waiter && threads[i].in_decrement)
      return false;
  return true;
}

static bool can_run(const struct thread *thread) {
  switch (thread->state) {
  case RUNNING:
    return true;
  case ASLEEP:
    return thread->timed;
  case AT_BARRIER:
    return barrier_is_open(thread);
  case ENDED:
    return false;
  }
  return false;
}

/* Options: the current thread first if it can go on, then the others; then sleepers that wake up
 * for no reason. To leave a thread that can go on is a preemption. */
static int list_threads(struct option *options, bool current_goes_on, bool spurious) {
  int count = 0;
  if (current_goes_on)
    options[count++] = (struct option){current->id, FREE};
  for (int i = 0; i < thread_count; i++)
    if (!(&threads[i] == current && current->state == RUNNING) && can_run(&threads[i]) &&
        !threads[i].yielded)
      options[count++] = (struct option){i, current_goes_on ? PREEMPTION : FREE};
  for (int i = 0; spurious && count > 0 && i < thread_count; i++)
    if (threads[i].state == ASLEEP && !threads[i].timed)
      options[count++] = (struct option){SPURIOUS_LABEL + i, SPURIOUS};
  return count;
}

static void resume(struct thread *next) {
  if (next->state == ASLEEP) {
    next->timed_out = next->timed;
    next->state = RUNNING;
    trace(0, "thread %d %s", next->id,
          next->timed_out ? "wakes up at its deadline" : "wakes up for no reason");
  } else if (next->state == AT_BARRIER) {
    next->state = RUNNING;
  }
  next->yielded = false;
  if (next == current)
    return;
  struct thread *previous = current;
  current = next;
  fiber_switch(previous, next);
  take_signals();
}

static bool all_ended(void) {
  for (int i = 0; i < thread_count; i++)
    if (!threads[i].daemon && threads[i].state != ENDED)
      return false;
  return true;
}

/* The current thread does not go on for now. */
static void pick_another(void) {
  struct option options[2 * MAX_THREADS];
  int count = list_threads(options, false, true);
  if (count == 0) { /* those that have yielded run although nothing has changed */
    for (int i = 0; i < thread_count; i++)
      threads[i].yielded = false;
    if (current->state == RUNNING)
      return;
    count = list_threads(options, false, true);
  }
  if (count == 0)
    deadlock();
  int label = choose(options, count);
  resume(&threads[label >= SPURIOUS_LABEL ? label - SPURIOUS_LABEL : label]);
}

void schedule_point(bool shared) {
  take_signals(); /* those that could not come in the middle of an instruction */
  saw(0);
  if (++steps > limits.steps)
    out_of_bounds();
  if ((!shared && mode == SEARCH) ||
      (mode != REPLAY && !affordable(PREEMPTION) && !affordable(SPURIOUS))) {
    choice_number++; /* as if it had chosen among one */
    return;
  }
  struct option options[2 * MAX_THREADS];
  int count = list_threads(options, true, true);
  int label = choose(options, count);
  if (label != current->id)
    resume(&threads[label >= SPURIOUS_LABEL ? label - SPURIOUS_LABEL : label]);
}

void state_changed(void) {
  current->idle_loads = 0;
  for (int i = 0; i < thread_count; i++)
    if (&threads[i] != current)
      threads[i].yielded = false;
}

void block(enum thread_state state) {
  current->state = state;
  current->vain_yields = 0;
  current->idle_loads = 0;
  pick_another();
}

/* More than anybody yields before it sleeps. */
enum { VAIN_YIELDS = 250 };

/* Another thread runs, and this one only when something has changed; or else this one goes on, and
 * its further yields are in vain too, until it sleeps; for a server, which may yield often, that
 * counts as a deviation. */
void yield_thread(void) {
  struct thread *self = current;
  saw(1);
  if (++steps > limits.steps)
    out_of_bounds();
  if (self->vain_yields > 0) {
    self->vain_yields--;
    return;
  }
  struct option options[2 * MAX_THREADS];
  int count = list_threads(options, false, true);
  if (count == 0) {
    choice_number++;
    return;
  }
  options[count++] = (struct option){self->id, self->daemon ? PREEMPTION : FREE};
  int label = choose(options, count);
  if (label == self->id) {
    self->vain_yields = VAIN_YIELDS;
    trace(0, "thread %d yields in vain", self->id);
    return;
  }
  trace(0, "thread %d yields", self->id);
  self->yielded = true;
  resume(&threads[label >= SPURIOUS_LABEL ? label - SPURIOUS_LABEL : label]);
}

void let_others_run(void) {
  saw(1);
  current->yielded = true;
  pick_another();
}

void wake_thread(struct thread *thread) {
  thread->state = RUNNING;
  thread->timed_out = false;
}

void thread_ended(void) {
  current->state = ENDED;
  trace(0, "thread %d ends", current->id);
  if (all_ended())
    leave();
  state_changed();
  pick_another();
  abort();
}

static void run_thread(void) {
  take_signals();
  current->run(current->argument);
  thread_ended();
}

struct thread *start_fiber(void *(*run)(void *), void *argument) {
  if (thread_count == MAX_THREADS)
    return NULL;
  struct thread *thread = &threads[thread_count++];
  thread->state = RUNNING;
  thread->daemon = thread->yielded = thread->in_decrement = false;
  thread->cancel = CANCEL_NONE;
  thread->asynchronous = thread->uncancellable = false;
  thread->pending = thread->blocked = 0;
  thread->cleanups = 0;
  thread->calls = 0;
  thread->vain_yields = 0;
  thread->idle_loads = 0;
  thread->run = run;
  thread->argument = argument;
  memset(&thread->view, 0, sizeof thread->view);
  if (current) {
    memcpy(&thread->view, &current->view, sizeof thread->view);
    current->view.clock[current->id]++;
  }
  thread->view.clock[thread->id] = 1;
  saw((uint64_t)thread->id);
  thread->values = 0;
  thread->past = mixed(current ? current->past : 0, (uint64_t)thread->id + MAX_THREADS);
  fiber_reset(thread, run_thread);
  if (is_child()) {
    memory_has_company();
    fiber_renew(thread);
  }
  return thread;
}

/* --- executions ------------------------------------------------------------------------------ */

static void *run_body(void *argument) {
  scenario->thread((int)(intptr_t)argument);
  return NULL;
}

static void note_end(void) {
  uint64_t digest = 0;
  for (int i = 0; i < thread_count; i++)
    digest = mixed(digest, threads[i].values);
  seen_add(&ends, digest);
}

static void run_once(void) {
  execution++;
  steps = 0;
  choice_number = 0;
  turn_count = 0;
  path_position = 0;
  replayed_position = 0;
  memset(spent, 0, sizeof spent);
  spent_in_all = 0;
  outcome = CLEAN;
  came_again = false;
  memory_begin();
  os_begin();
  events_begin();
  thread_count = 0;
  for (int i = 0; i < scenario->threads; i++)
    start_fiber(run_body, (void *)(intptr_t)i);
  struct option options[MAX_THREADS];
  int count = list_threads(options, false, false);
  current = &threads[choose(options, count)];
  fiber_switch(NULL, current);
  if (outcome == CLEAN && !came_again && scenario->check) {
    const char *wrong = scenario->check();
    if (wrong) {
      outcome = FOUND;
      snprintf(text, sizeof text, "%s", wrong);
    }
  }
  if (mode == SEARCH && !came_again)
    note_end();
  memory_end();
}

static bool next_path(void) {
  while (path_length > 0) {
    struct node *last = &path[path_length - 1];
    if (++last->chosen < last->options)
      return true;
    path_length--;
  }
  return false;
}

static void count_execution(struct statistics *statistics) {
  statistics->executions++;
  statistics->ends = ends.count;
  if (steps > statistics->longest)
    statistics->longest = steps;
}

static enum outcome run_randomly(uint64_t runs, struct statistics *statistics) {
  mode = RANDOM;
  enum outcome worst = CLEAN;
  for (uint64_t i = 0; i < runs; i++) {
    run_once();
    count_execution(statistics);
    if (outcome == FOUND)
      return FOUND;
    if (outcome == INCONCLUSIVE)
      worst = INCONCLUSIVE;
  }
  return worst;
}

static uint64_t seeded(uint64_t seed) {
  seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (seed ^ seed >> 29) | 1;
}

enum outcome explore_randomly(const struct scenario *of, uint64_t seed, uint64_t runs,
                              struct statistics *statistics) {
  scenario = of;
  random_state = seeded(seed);
  return run_randomly(runs, statistics);
}

/* Random executions first, to find out what is shared; when the search finds more, it starts
 * again. */
enum outcome explore(const struct scenario *of, struct statistics *statistics) {
  scenario = of;
  random_state = seeded(0);
  sharing_forget();
  sharing_freeze();
  enum outcome worst = run_randomly(50, statistics);
  if (worst == FOUND)
    return FOUND;
  do {
    worst = CLEAN;
    sharing_freeze();
    mode = SEARCH;
    path_length = 0;
    seen_forget(&states);
    seen_forget(&ends);
    do {
      run_once();
      count_execution(statistics);
      if (outcome == FOUND)
        return FOUND;
      if (outcome == INCONCLUSIVE)
        return INCONCLUSIVE;
    } while (!sharing_grew() && next_path());
  } while (sharing_grew());
  return worst;
}

static enum outcome run_replay(void) {
  mode = REPLAY;
  run_once();
  return outcome;
}

enum outcome replay(const struct scenario *of, const char *trail) {
  static struct turn parsed[MAX_DEPTH];
  scenario = of;
  replayed = parsed;
  replayed_count = 0;
  for (const char *at = trail; *at && replayed_count < MAX_DEPTH;) {
    int length = 0;
    struct turn *turn = &parsed[replayed_count];
    if (sscanf(at, "%u=%d%n", &turn->number, &turn->label, &length) != 2) {
      fprintf(stderr, "explore: '%s' is not a trail (NUMBER=LABEL,...)\n", trail);
      exit(2);
    }
    replayed_count++;
    at += length;
    if (*at == ',')
      at++;
  }
  tracing = true;
  trace_begin();
  enum outcome result = run_replay();
  tracing = false;
  return result;
}

const char *finding_text(void) { return text; }

void print_finding(const struct scenario *of) {
  static struct turn trail[MAX_DEPTH];
  scenario = of;
  replayed_count = turn_count;
  memcpy(trail, turns, sizeof *trail * (size_t)turn_count);
  replayed = trail;
  tracing = true;
  trace_begin();
  enum outcome expected = outcome;
  if (run_replay() != expected)
    printf("(it does not happen when it is replayed)\n");
  tracing = false;
  if (outcome == FOUND)
    printf("%s\n", text);
  for (int i = 0; i < thread_count; i++)
    print_calls(&threads[i]);
  printf("trail: ");
  for (int i = 0; i < replayed_count; i++)
    printf("%s%u=%d", i ? "," : "", trail[i].number, trail[i].label);
  printf("%s\nlast operations:\n", replayed_count ? "" : "(all defaults) ");
  trace_print();
}
