/* SPDX-License-Identifier: MIT */
#include "processors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_thread *sim_current;
uint64_t sim_switches;

static const struct sim_machine *machine;

struct processor {
  struct sim_thread *running;       /* or watching */
  struct sim_thread *first, **last; /* ready, in the order of their turns */
  uint64_t taken_at, free_at;       /* when the last one came, and left it */
  uint64_t slice_end;
};
static struct processor *processors;
static unsigned processor_count;
static uint64_t busy_cycles;
static unsigned *busy;        /* processors of each core */
static unsigned waiting_free; /* threads in queues that are bound to no processor */

static struct sim_thread *threads[SIM_MAX_THREADS];
static unsigned thread_count, awaited; /* that have not ended, but for daemons */
static struct sim_fiber main_fiber;

uint64_t sim_busy_cycles(void) { return busy_cycles; }

/* --- who is due ------------------------------------------------------------------------------ */

/* A heap of all threads that are due at some time; the number decides between equal ones. */
static struct sim_thread *due[SIM_MAX_THREADS];
static int due_count;

static bool is_before(const struct sim_thread *one, const struct sim_thread *other) {
  return one->due != other->due ? one->due < other->due : one->number < other->number;
}

static void put(struct sim_thread *thread, int place) {
  due[place] = thread;
  thread->place = place;
}

static void rise(struct sim_thread *thread, int place) {
  for (; place > 0 && is_before(thread, due[(place - 1) / 2]); place = (place - 1) / 2)
    put(due[(place - 1) / 2], place);
  put(thread, place);
}

static void sink(struct sim_thread *thread, int place) {
  for (int child; (child = 2 * place + 1) < due_count; place = child) {
    child += child + 1 < due_count && is_before(due[child + 1], due[child]);
    if (!is_before(due[child], thread))
      break;
    put(due[child], place);
  }
  put(thread, place);
}

static void remove_due(struct sim_thread *thread) {
  const int place = thread->place;
  if (place < 0)
    return;
  thread->place = -1;
  struct sim_thread *moved = due[--due_count];
  if (moved == thread)
    return;
  if (place > 0 && is_before(moved, due[(place - 1) / 2]))
    rise(moved, place);
  else
    sink(moved, place);
}

static void set_due(struct sim_thread *thread, uint64_t time) {
  remove_due(thread);
  thread->due = time;
  rise(thread, due_count++);
}

/* --- processors ------------------------------------------------------------------------------ */

static struct processor *processor_of(const struct sim_thread *thread) {
  return &processors[thread->processor];
}

static void take(struct processor *processor, struct sim_thread *thread, uint64_t now) {
  processor->running = thread;
  processor->taken_at = now;
  processor->slice_end = now + machine->slice;
  thread->processor = (unsigned)(processor - processors);
  thread->clock = now;
  thread->state = SIM_RUNNING;
  busy[sim_core_of(machine, thread->processor)]++;
  set_due(thread, now);
}

static unsigned queue_length(const struct processor *processor) {
  unsigned length = processor->running != NULL;
  for (const struct sim_thread *thread = processor->first; thread; thread = thread->next)
    length++;
  return length;
}

/* Takes the first thread that may run elsewhere out of a processor's queue. */
static struct sim_thread *take_free_thread(struct processor *from) {
  struct sim_thread **at = &from->first;
  while (*at && (*at)->bound >= 0)
    at = &(*at)->next;
  struct sim_thread *thread = *at;
  if (!thread)
    return NULL;
  *at = thread->next;
  if (!*at)
    from->last = at;
  return thread;
}

/* A processor that has nothing to do takes a thread from the longest queue. */
static struct sim_thread *next_for(struct processor *processor) {
  struct sim_thread *next = processor->first;
  if (next) {
    processor->first = next->next;
    if (!processor->first)
      processor->last = &processor->first;
    return next;
  }
  if (waiting_free == 0)
    return NULL;
  struct processor *longest = NULL;
  for (unsigned i = 0; i < processor_count; i++)
    if (processors[i].first && (!longest || queue_length(&processors[i]) > queue_length(longest)))
      longest = &processors[i];
  return longest ? take_free_thread(longest) : NULL;
}

/* The running thread leaves; the next one comes. */
static void release(struct processor *processor, uint64_t now) {
  remove_due(processor->running);
  busy[sim_core_of(machine, processor->running->processor)]--;
  processor->running = NULL;
  processor->free_at = now;
  busy_cycles += now - processor->taken_at;
  struct sim_thread *next = next_for(processor);
  if (!next)
    return;
  waiting_free -= next->bound < 0;
  sim_switches++;
  take(processor, next, (next->ready_at > now ? next->ready_at : now) + machine->context_switch);
}

static void queue_up(struct processor *processor, struct sim_thread *thread, uint64_t now) {
  thread->state = SIM_READY;
  thread->ready_at = now;
  thread->processor = (unsigned)(processor - processors);
  thread->next = NULL;
  waiting_free += thread->bound < 0;
  *processor->last = thread;
  processor->last = &thread->next;
  /* Whoever spins there would not see that its turn is over. */
  struct sim_thread *running = processor->running;
  const uint64_t end = processor->slice_end > now ? processor->slice_end : now;
  if (running->state == SIM_WATCHING && running->due > end)
    set_due(running, end);
}

/* Its own if that is free, then one of its node, then any other; else the shortest queue. */
static struct processor *choose_processor(const struct sim_thread *thread) {
  if (thread->bound >= 0)
    return &processors[thread->bound];
  struct processor *own = processor_of(thread), *best = own;
  if (!own->running)
    return own;
  const unsigned node = sim_node_of_core(machine, sim_core_of(machine, thread->processor));
  unsigned best_cost = 2 * queue_length(own);
  for (unsigned i = 0; i < processor_count; i++) {
    const unsigned far = sim_node_of_core(machine, sim_core_of(machine, i)) != node;
    const unsigned cost = 2 * queue_length(&processors[i]) + far;
    if (cost < best_cost) {
      best_cost = cost;
      best = &processors[i];
    }
  }
  return best;
}

/* Whether it has nothing to do, and for long enough that it must be woken up itself. */
static bool dozes(const struct processor *processor, uint64_t now) {
  return !processor->running && now > processor->free_at + machine->doze;
}

static void make_ready(struct sim_thread *thread, uint64_t now) {
  struct processor *processor = choose_processor(thread);
  if (processor->running) {
    queue_up(processor, thread, now);
    return;
  }
  sim_switches++;
  take(processor, thread,
       (processor->free_at > now ? processor->free_at : now) +
           (dozes(processor, now) ? machine->wake_up : machine->early_wake_up));
}

/* --- whose turn it is ------------------------------------------------------------------------ */

static void unwatch(struct sim_thread *thread) {
  for (unsigned i = 0; i < thread->watch_count; i++) {
    struct sim_watch *watch = &thread->watches[i];
    if (watch->previous)
      watch->previous->next = watch->next;
    else
      watch->line->watches = watch->next;
    if (watch->next)
      watch->next->previous = watch->previous;
  }
}

/* The loop has gone round until this time, whole times. */
static void go_on(struct sim_thread *thread, uint64_t now) {
  unwatch(thread);
  const uint64_t rounds = (now - thread->paused_at + thread->period - 1) / thread->period;
  thread->clock = thread->paused_at + rounds * thread->period;
  thread->state = SIM_RUNNING;
  set_due(thread, thread->clock);
}

static uint64_t limit = UINT64_MAX;

static __attribute__((noreturn)) void give_up(const char *why) {
  fprintf(stderr, "relock-simulator: %s:\n", why);
  for (unsigned i = 0; i < thread_count; i++)
    if (threads[i]->state != SIM_ENDED && threads[i]->state != SIM_ASLEEP)
      fprintf(stderr, "  thread %u (%s) %s at cycle %llu\n", i, threads[i]->name,
              threads[i]->state == SIM_WATCHING ? "spins" : "runs",
              (unsigned long long)threads[i]->clock);
    else if (threads[i]->state == SIM_ASLEEP)
      fprintf(stderr, "  thread %u (%s) since cycle %llu, on the word at %p, which is %x\n", i,
              threads[i]->name, (unsigned long long)threads[i]->clock, (void *)threads[i]->word,
              threads[i]->word ? *threads[i]->word : 0);
  exit(3);
}

/* Until it is a running thread's turn, which is not due any more while it has it. */
static struct sim_thread *next_thread(void) {
  for (;;) {
    if (due_count == 0)
      give_up("nobody can go on");
    struct sim_thread *thread = due[0];
    if (thread->due > limit)
      give_up("the threads do not end");
    switch (thread->state) {
    case SIM_RUNNING:
      remove_due(thread);
      return thread;
    case SIM_WATCHING:
      go_on(thread, thread->due);
      break;
    case SIM_ASLEEP:
      thread->timed_out = true;
      sim_thread_overslept(thread);
      remove_due(thread);
      make_ready(thread, thread->due);
      break;
    case SIM_READY:
    case SIM_ENDED:
      abort();
    }
  }
}

static void switch_to(struct sim_thread *next) {
  struct sim_thread *previous = sim_current;
  if (next == previous)
    return;
  sim_current = next;
  sim_fiber_switch(&previous->fiber, &next->fiber);
}

static void preempt(void) {
  struct sim_thread *self = sim_current;
  struct processor *processor = processor_of(self);
  sim_loop_acts();
  queue_up(processor, self, self->clock);
  release(processor, self->clock);
  switch_to(next_thread());
}

void sim_turn(void) {
  struct sim_thread *self = sim_current;
  if (!self)
    return;
  const struct processor *processor = processor_of(self);
  while (processor->first && self->clock >= processor->slice_end &&
         processor->first->ready_at <= self->clock) {
    preempt();
    processor = processor_of(self);
  }
  if (due_count > 0 && due[0]->due < self->clock) {
    set_due(self, self->clock);
    switch_to(next_thread());
  }
}

void sim_offer(void) {
  struct sim_thread *self = sim_current;
  sim_turn();
  const struct processor *processor = processor_of(self);
  if (processor->first && processor->first->ready_at <= self->clock)
    preempt();
}

void sim_work(uint64_t cycles) {
  struct sim_thread *self = sim_current;
  if (!self)
    return;
  const unsigned siblings = busy[sim_core_of(machine, self->processor)];
  if (siblings * 100 > machine->throughput)
    cycles = cycles * siblings * 100 / machine->throughput;
  for (;;) {
    const struct processor *processor = processor_of(self);
    const uint64_t left =
        processor->slice_end > self->clock ? processor->slice_end - self->clock : 0;
    if (cycles <= left || !processor->first) {
      self->clock += cycles;
      return;
    }
    self->clock += left;
    cycles -= left;
    sim_turn();
    if (processor_of(self)->slice_end <= self->clock) { /* nobody was ready yet */
      self->clock += cycles;
      return;
    }
  }
}

bool sim_sleep(uint64_t until) {
  struct sim_thread *self = sim_current;
  sim_loop_acts();
  self->state = SIM_ASLEEP;
  self->timed_out = false;
  release(processor_of(self), self->clock);
  if (until != UINT64_MAX)
    set_due(self, until > self->clock ? until : self->clock);
  switch_to(next_thread());
  return self->timed_out;
}

uint64_t sim_waking(const struct sim_thread *thread) {
  return dozes(choose_processor(thread), sim_current->clock) ? machine->waking
                                                             : machine->early_waking;
}

void sim_thread_wake(struct sim_thread *thread) {
  remove_due(thread);
  thread->timed_out = false;
  make_ready(thread, sim_current->clock > thread->clock ? sim_current->clock : thread->clock);
}

bool sim_is_on_stack(uintptr_t address) {
  return sim_current && address - (uintptr_t)sim_current->fiber.stack < SIM_STACK_SIZE;
}

void sim_interrupt_others(uint64_t cycles) {
  for (unsigned i = 0; i < processor_count; i++) {
    struct sim_thread *thread = processors[i].running;
    if (!thread || thread == sim_current || thread->state != SIM_RUNNING)
      continue;
    thread->clock += cycles;
    set_due(thread, thread->clock);
  }
}

/* --- loops that spin ------------------------------------------------------------------------- */

void sim_loop_looks(struct sim_line *line) {
  struct sim_thread *self = sim_current;
  self->looked = true;
  if (!self->idle)
    return;
  self->writes += line->writes;
  if (self->watch_count > 0 && self->watches[self->watch_count - 1].line == line) {
    self->writes -=
        self->last_writes; /* it has looked again, after its own compare-and-swap perhaps */
    self->last_writes = line->writes;
    return;
  }
  self->last_writes = line->writes;
  if (self->watch_count == self->watch_room) {
    self->watch_room = self->watch_room ? 2 * self->watch_room : 16;
    self->watches = realloc(self->watches, self->watch_room * sizeof *self->watches);
    if (!self->watches) {
      fprintf(stderr, "relock-simulator: no memory for what a loop looks at\n");
      exit(2);
    }
  }
  self->watches[self->watch_count++] = (struct sim_watch){NULL, NULL, line, self};
}

static void begin_round(struct sim_thread *self) {
  self->paused_at = self->clock;
  self->earlier = self->round;
  self->round = 0;
  self->idle = true;
  self->looked = false;
  self->writes = 0;
  self->watch_count = 0;
}

/* Whether nothing has changed since the loop looked: others have had turns since. */
static bool still_idle(const struct sim_thread *self) {
  const unsigned core = sim_current_core(machine);
  uint8_t writes = 0;
  for (unsigned i = 0; i < self->watch_count; i++) {
    if (!sim_has_copy(self->watches[i].line, core))
      return false;
    writes += self->watches[i].line->writes;
  }
  return writes == self->writes && self->idle && self->looked && self->round == self->earlier;
}

/* A round of the loop that was idle, like the one before: the next ones are the same until a line
 * that it has looked at is lost, or its turn is over. */
static void watch(struct sim_thread *self, uint32_t most) {
  const struct processor *processor = processor_of(self);
  for (unsigned i = 0; i < self->watch_count; i++) {
    struct sim_watch *watch = &self->watches[i];
    watch->next = watch->line->watches;
    watch->previous = NULL;
    if (watch->next)
      watch->next->previous = watch;
    watch->line->watches = watch;
  }
  self->period = self->clock - self->paused_at;
  self->paused_at = self->clock;
  self->state = SIM_WATCHING;
  uint64_t end = self->clock + most * self->period;
  if (processor->first && processor->slice_end < end)
    end = processor->slice_end > self->clock ? processor->slice_end : self->clock;
  set_due(self, end);
  switch_to(next_thread());
}

uint32_t sim_pauses(uint32_t most) {
  struct sim_thread *self = sim_current;
  if (!self)
    return 1;
  sim_work(machine->pause);
  uint32_t taken = 1;
  if (most > 1 && still_idle(self)) {
    watch(self, most - 1);
    taken += (uint32_t)((self->clock - self->paused_at) / self->period);
  }
  begin_round(self);
  return taken;
}

void sim_stall(struct sim_line *line) {
  struct sim_thread *self = sim_current;
  begin_round(self);
  sim_loop_looks(line);
  self->paused_at = self->clock - 1; /* a round of one cycle */
  watch(self, UINT32_MAX);
  begin_round(self);
  sim_loop_acts();
}

void sim_line_lost(struct sim_line *line, uint64_t now) {
  while (line->watches) {
    struct sim_thread *thread = line->watches->thread;
    const uint64_t seen = now > thread->paused_at ? now : thread->paused_at;
    go_on(thread, seen < thread->due ? seen : thread->due); /* or its loop has ended before */
  }
}

/* --- threads --------------------------------------------------------------------------------- */

static void begin_thread(void) {
  struct sim_thread *self = sim_current;
  self->run(self->argument);
  self->state = SIM_ENDED;
  release(processor_of(self), self->clock);
  if (!self->daemon && --awaited == 0) {
    sim_current = NULL;
    sim_fiber_switch(&self->fiber, &main_fiber);
  }
  switch_to(next_thread());
  abort();
}

struct sim_thread *sim_thread_start(void *(*run)(void *), void *argument, const char *name,
                                    int bound, bool daemon) {
  if (thread_count == SIM_MAX_THREADS)
    return NULL;
  struct sim_thread *thread = calloc(1, sizeof *thread);
  if (!thread)
    return NULL;
  thread->number = thread_count;
  thread->name = name;
  thread->run = run;
  thread->argument = argument;
  thread->bound = bound;
  thread->daemon = daemon;
  thread->place = -1;
  thread->processor = bound >= 0 ? (unsigned)bound : sim_current ? sim_current->processor : 0;
  sim_fiber_make(&thread->fiber, begin_thread);
  threads[thread_count++] = thread;
  awaited += !daemon;
  make_ready(thread, sim_current ? sim_current->clock : 0);
  return thread;
}

void sim_thread_bind(int processor) {
  struct sim_thread *self = sim_current;
  self->bound = processor;
  if (processor < 0 || (unsigned)processor == self->processor)
    return;
  self->state = SIM_READY;
  release(processor_of(self), self->clock);
  make_ready(self, self->clock);
  switch_to(next_thread());
}

void sim_run(uint64_t limit_ns) {
  limit = sim_cycles(machine, limit_ns);
  struct sim_thread *first = next_thread();
  sim_current = first;
  sim_fiber_switch(&main_fiber, &first->fiber);
}

void sim_processors_start(const struct sim_machine *simulated) {
  machine = simulated;
  processor_count = sim_processors(machine);
  processors = calloc(processor_count, sizeof *processors);
  busy = calloc(sim_cores(machine), sizeof *busy);
  if (!processors || !busy) {
    fprintf(stderr, "relock-simulator: no memory for %u processors\n", processor_count);
    exit(2);
  }
  for (unsigned i = 0; i < processor_count; i++)
    processors[i].last = &processors[i].first;
}
