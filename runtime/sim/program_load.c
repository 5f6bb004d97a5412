/* SPDX-License-Identifier: MIT
 *
 * Runs the threads of a program (program.h) on the simulated machine. This is code of that machine:
 * it is built like the runtime. What only keeps the books takes no time there, and is not
 * instrumented.
 */
#include "program.h"

#include "../base/arch.h"
#include "../base/os.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "processors.h"

#include <relock/relock.h>

#include <math.h>
#include <stdlib.h>

#define BOOKS SIM_BOOKS
enum { LINE = 128 };

struct line {
  _Alignas(LINE) uint64_t value;
};

/* A lock of a class with the data that its sections share. */
struct object {
  _Alignas(LINE) relock_mutex_t mutex;
  _Alignas(LINE) struct line *lines;
  uint32_t word; /* of the C library's mutex: 0 free, 1 taken, 2 and somebody may sleep */
  unsigned last_thread;
  uint64_t sections;
};

struct class_state {
  _Alignas(LINE) relock_class_t lock_class;
  struct object *objects;
};

struct worker {
  _Alignas(LINE) const struct sim_group *group;
  unsigned number;
  uint64_t random;
  uint64_t visits; /* counted ones */
  struct sim_class_counts classes[SIM_MAX_CLASSES];
};

static uint64_t histogram[SIM_MAX_CLASSES][SIM_BUCKETS];

static struct {
  const struct sim_program_load *load;
  struct class_state *classes;
  struct worker *workers;
  unsigned threads;
  unsigned beginning; /* that have not had a section */
  uint64_t from, until;
  _Alignas(LINE) uint32_t running;
} shared;

/* --- chance: each thread's numbers are the same with every lock ------------------------------ */

static BOOKS double chance(struct worker *self) { /* xorshift64*, from 0 to 1 */
  self->random ^= self->random >> 12;
  self->random ^= self->random << 25;
  self->random ^= self->random >> 27;
  return (double)(self->random * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

static BOOKS double drawn(const struct sim_choice *choice, double part) {
  unsigned i = 0;
  while (i + 1 < choice->count && part >= choice->parts[i].until)
    i++;
  return choice->parts[i].value;
}

static BOOKS double draw(struct worker *self, const struct sim_choice *choice) {
  return drawn(choice, chance(self) * choice->parts[choice->count - 1].until);
}

static BOOKS uint64_t cycles(double ns) { return (uint64_t)(ns * (double)shared.load->mhz / 1000); }

static BOOKS uint64_t spread(struct worker *self, double mean) {
  return cycles(shared.load->even ? mean : -mean * log(1 - chance(self)));
}

static BOOKS unsigned draw_object(struct worker *self, const struct sim_class *of) {
  const double part = chance(self),
               known = of->object.count ? of->object.parts[of->object.count - 1].until : 0;
  const unsigned rest = of->objects - of->object.count;
  if (part < known || rest == 0)
    return of->object.count ? (unsigned)drawn(&of->object, part) : 0;
  const unsigned chosen = (unsigned)((part - known) / (1 - known) * rest);
  return of->object.count + (chosen < rest ? chosen : rest - 1);
}

/* --- the C library's mutex: glibc's lll_lock() and lll_unlock() ------------------------------ */

static bool library_lock(uint32_t *word) { /* true: somebody had it */
  uint32_t expected = 0;
  if (__atomic_compare_exchange_n(word, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return false;
  if (__atomic_load_n(word, __ATOMIC_RELAXED) == 2)
    relock_os->futex_wait(word, 2, CLOCK_MONOTONIC, NULL);
  while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0)
    relock_os->futex_wait(word, 2, CLOCK_MONOTONIC, NULL);
  return true;
}

static void library_unlock(uint32_t *word) {
  if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) > 1)
    relock_os->futex_wake(word, 1);
}

/* --- sections -------------------------------------------------------------------------------- */

struct visit {
  struct worker *worker; /* whose section it is */
  unsigned lock_class;
  struct object *object;
  uint64_t work;
  bool delegated; /* where the lock can */
  uint64_t inside;
  bool contended, handed_over;
};

static void take(struct worker *self, unsigned number);

static BOOKS void note_section(struct visit *visit, uint64_t begin) {
  struct object *object = visit->object;
  object->sections++;
  visit->inside = relock_ticks() - begin;
  visit->handed_over = object->last_thread != visit->worker->number;
  object->last_thread = visit->worker->number;
}

static BOOKS unsigned inner_times(struct worker *self, double times) {
  const unsigned whole = (unsigned)times;
  return whole + (chance(self) < times - whole);
}

static int section(void *context) {
  struct visit *visit = context;
  const struct sim_class *of = &shared.load->program->classes[visit->lock_class];
  const uint64_t begin = relock_ticks();
  uint64_t at = 0;
  for (unsigned i = 0; i < of->lines; i++) { /* each address comes from the line before it */
    const uint64_t value = visit->object->lines[at].value;
    visit->object->lines[at].value = value + 1;
    at = i + 1 + (value >> 63);
  }
  sim_work(visit->work);
  for (unsigned i = 0; i < of->inner_count; i++)
    for (unsigned n = inner_times(visit->worker, of->inner[i].times); n > 0; n--)
      take(visit->worker, of->inner[i].lock_class);
  note_section(visit, begin);
  return 0;
}

static BOOKS struct visit begin_visit(struct worker *self, unsigned number) {
  const struct sim_class *of = &shared.load->program->classes[number];
  return (struct visit){.worker = self,
                        .lock_class = number,
                        .object = &shared.classes[number].objects[draw_object(self, of)],
                        .work = cycles(draw(self, &of->section)),
                        .delegated = chance(self) < of->delegated};
}

/* A section counts if it was asked for and done while sections count; its time, as far as that lies
 * there: with many threads one may wait for longer. */
static BOOKS void end_visit(const struct visit *visit, uint64_t begin) {
  const uint64_t end = relock_ticks();
  const uint64_t from = begin > shared.from ? begin : shared.from;
  const uint64_t until = end < shared.until ? end : shared.until;
  if (from >= until)
    return;
  struct sim_class_counts *counts = &visit->worker->classes[visit->lock_class];
  counts->latency += until - from;
  counts->inside +=
      (uint64_t)((double)visit->inside * (double)(until - from) / (double)(end - begin));
  if (begin < shared.from || end > shared.until)
    return;
  counts->sections++;
  counts->contended += visit->contended;
  counts->handovers += visit->handed_over;
  histogram[visit->lock_class][sim_bucket_of(visit->inside)]++;
}

static void take(struct worker *self, unsigned number) {
  const struct sim_class *of = &shared.load->program->classes[number];
  const uint64_t begin = relock_ticks();
  struct visit visit = begin_visit(self, number);
  struct object *object = visit.object;
  if (!of->algorithm) {
    visit.contended = library_lock(&object->word);
    section(&visit);
    library_unlock(&object->word);
  } else if (visit.delegated) {
    relock_execute_any_thread(&object->mutex, section, &visit);
  } else {
    relock_mutex_lock(&object->mutex);
    section(&visit);
    relock_mutex_unlock(&object->mutex);
  }
  end_visit(&visit, begin);
}

/* --- threads --------------------------------------------------------------------------------- */

static void sleep_for(uint64_t time) {
  if (time == 0)
    return;
  const uint64_t ns = time * 1000 / shared.load->mhz;
  const uint64_t until = relock_os->now_ns() + ns;
  const struct timespec deadline = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
  uint32_t nobody = 0; /* wakes it */
  relock_os->futex_wait(&nobody, 0, CLOCK_MONOTONIC, &deadline);
}

static void visit_once(struct worker *self) {
  const struct sim_group *group = self->group;
  sim_work(spread(self, group->work));
  for (unsigned n = inner_times(self, group->sleeps); n > 0; n--)
    sleep_for(spread(self, group->sleep));
  take(self, (unsigned)draw(self, &group->visits));
}

/* What counts is from when the last thread has begun: its first section was for the records of
 * threads, pages of memory and servers. */
static BOOKS void begin(void) {
  enum { LATER = 100000 }; /* cycles */
  if (--shared.beginning > 0)
    return;
  shared.from = relock_ticks() + LATER;
  shared.until = shared.from + shared.load->cycles;
}

static BOOKS bool count_visit(struct worker *self) {
  const uint64_t now = relock_ticks();
  self->visits += now >= shared.from && now <= shared.until;
  return now < shared.until;
}

static void *work(void *argument) {
  struct worker *self = argument;
  take(self, (unsigned)draw(self, &self->group->visits));
  begin();
  do
    visit_once(self);
  while (count_visit(self));
  if (__atomic_sub_fetch(&shared.running, 1, __ATOMIC_ACQ_REL) == 0)
    relock_os->futex_wake(&shared.running, 1);
  return NULL;
}

static BOOKS void *zeroed(size_t count, size_t size) {
  void *memory = aligned_alloc(LINE, count * size);
  if (!memory)
    abort();
  for (size_t i = 0; i < count * size; i++)
    ((char *)memory)[i] = 0;
  return memory;
}

static BOOKS void make_classes(const struct sim_program *program) {
  shared.classes = zeroed(program->class_count, sizeof *shared.classes);
  for (unsigned i = 0; i < program->class_count; i++) {
    const struct sim_class *of = &program->classes[i];
    struct class_state *state = &shared.classes[i];
    state->lock_class.name = of->name;
    state->lock_class.algorithm = of->algorithm;
    state->objects = zeroed(of->objects, sizeof *state->objects);
    struct line *lines = zeroed((size_t)of->objects * (of->lines + 1), sizeof *lines);
    for (unsigned j = 0; j < of->objects; j++)
      state->objects[j].lines = lines + (size_t)j * (of->lines + 1);
  }
}

static void make_mutexes(const struct sim_program *program) {
  for (unsigned i = 0; i < program->class_count; i++)
    for (unsigned j = 0; program->classes[i].algorithm && j < program->classes[i].objects; j++) {
      relock_mutex_t *mutex = &shared.classes[i].objects[j].mutex;
      if (relock_mutex_init(mutex, NULL, &shared.classes[i].lock_class) != 0)
        abort();
    }
}

static BOOKS void make_workers(const struct sim_program *program) {
  for (unsigned i = 0; i < program->group_count; i++)
    shared.threads += program->groups[i].threads;
  shared.workers = zeroed(shared.threads, sizeof *shared.workers);
  unsigned next = 0;
  for (unsigned i = 0; i < program->group_count; i++)
    for (unsigned j = 0; j < program->groups[i].threads; j++, next++) {
      shared.workers[next].group = &program->groups[i];
      shared.workers[next].number = next + 1;
      shared.workers[next].random = (next + 1) * UINT64_C(0x9e3779b97f4a7c15);
    }
}

void *sim_program_run(void *argument) {
  shared.load = argument;
  const struct sim_program *program = shared.load->program;
  relock_word_start(); /* before, there was no machine */
  relock_wait_calibrate();
  make_classes(program);
  make_mutexes(program);
  make_workers(program);
  shared.beginning = shared.threads;
  shared.from = shared.until = UINT64_MAX;
  shared.running = shared.threads;
  for (unsigned i = 0; i < shared.threads; i++)
    if (!sim_thread_start(work, &shared.workers[i], "worker", -1, false))
      abort();
  for (uint32_t running; (running = __atomic_load_n(&shared.running, __ATOMIC_ACQUIRE)) > 0;)
    relock_os->futex_wait(&shared.running, running, CLOCK_MONOTONIC, NULL);
  return NULL;
}

bool sim_program_count(uint64_t *visits, struct sim_class_counts *classes) {
  const struct sim_program *program = shared.load->program;
  for (unsigned i = 0; i < shared.threads; i++) {
    const struct worker *worker = &shared.workers[i];
    visits[worker->group - program->groups] += worker->visits;
    for (unsigned j = 0; j < program->class_count; j++) {
      classes[j].sections += worker->classes[j].sections;
      classes[j].latency += worker->classes[j].latency;
      classes[j].inside += worker->classes[j].inside;
      classes[j].contended += worker->classes[j].contended;
      classes[j].handovers += worker->classes[j].handovers;
    }
  }
  for (unsigned i = 0; i < program->class_count; i++)
    for (unsigned j = 0; program->classes[i].lines && j < program->classes[i].objects; j++)
      if (shared.classes[i].objects[j].lines[0].value != shared.classes[i].objects[j].sections)
        return false;
  return true;
}

unsigned sim_program_threads(void) { return shared.threads; }

const struct sim_class_counts *sim_program_thread(unsigned number, const struct sim_group **group) {
  *group = shared.workers[number].group;
  return shared.workers[number].classes;
}

const uint64_t *sim_program_histogram(unsigned lock_class) { return histogram[lock_class]; }
