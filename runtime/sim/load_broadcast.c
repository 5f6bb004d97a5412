/* SPDX-License-Identifier: MIT
 *
 * What the buffers hold is the number of the broadcast and of the chunk, which each core compares
 * with those that it waits for.
 *
 * Departures from the printed algorithm: a core has a flag for each core that notifies it, where
 * the printed one has one for all. With roots that change that one is overwritten, or satisfied too
 * early. A core's position in the tree counts from the root.
 */
#include "load_broadcast.h"

#include "buffers.h"
#include "processors.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST = SIM_MAX_BROADCAST,
  CHUNK = 96,        /* lines, of which a buffer has two: section 3.3.1 */
  RCCE_CHUNK = 251,  /* lines: section 4.2 */
  BROADCASTS = 1024, /* under way at a time, at most */
  CHUNKS = 1 << 20   /* of a message */
};

const char sim_broadcast_names[] = "oc-bcast-2 oc-bcast-7 oc-bcast-47 binomial scatter-allgather";

static struct core {
  struct sim_flag notified[MOST], done[MOST]; /* by whom */
  uint64_t buffer[2];                         /* which chunk, of which broadcast */
  struct sim_flag sent[MOST], received[MOST]; /* of two-sided messages, by whom */
  uint64_t sends[MOST], receives[MOST];       /* so far, with whom */
} cores[MOST];

static const struct sim_load *load;
static unsigned children; /* of a core in the tree of OC-Bcast */
static uint64_t until, last;
static struct {
  uint64_t begin;
  unsigned left;
} broadcasts[BROADCASTS];
static struct sim_counts all;
static bool wrong;

static unsigned count(void) { return load->threads; }

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* --- OC-Bcast -------------------------------------------------------------------------------- */

static unsigned parent_of(unsigned core) { return (core - 1) / children; }
static bool is_child(unsigned core, unsigned of) { return core > 0 && parent_of(core) == of; }

/* A parent and its children notify each other as a heap: the one at place p those at 2p + 1 and
 * 2p + 2. `first`: the first of the children. */
static void notify(unsigned core, unsigned place, unsigned first, uint64_t id) {
  for (unsigned next = 2 * place + 1; next <= 2 * place + 2; next++) {
    const unsigned child = first + next - 1;
    if (next <= children && child < count())
      sim_put_flag(&cores[child].notified[core], id);
  }
}

static unsigned place_of(unsigned core) { return (core - 1) % children + 1; }

/* Who notifies it. */
static unsigned notifier_of(unsigned core) {
  const unsigned place = (place_of(core) - 1) / 2, parent = parent_of(core);
  return place == 0 ? parent : parent * children + place;
}

static void await_children(unsigned core, uint64_t id) {
  for (unsigned child = core * children + 1; child < count() && is_child(child, core); child++)
    sim_await_flag(&cores[core].done[child], id);
}

static void check(uint64_t found, uint64_t expected) { wrong |= found != expected; }

static void oc_chunk(unsigned core, uint64_t id, uint64_t chunk, uint64_t lines) {
  struct core *self = &cores[core];
  if (chunk >= 2)
    await_children(core, id - 2);
  if (core == 0) {
    sim_put_memory(core, lines, false);
  } else {
    const unsigned parent = parent_of(core);
    sim_await_flag(&self->notified[notifier_of(core)], id);
    notify(core, place_of(core), parent * children + 1, id); /* its parent's children first */
    sim_get(parent, lines);
    check(cores[parent].buffer[chunk % 2], id);
    sim_put_flag(&cores[parent].done[core], id);
  }
  self->buffer[chunk % 2] = id;
  if (is_child(core * children + 1, core) && core * children + 1 < count())
    notify(core, 0, core * children + 1, id);
  if (core > 0)
    sim_get_memory(core, lines);
}

static void oc_bcast(unsigned core, uint64_t number) {
  uint64_t chunk = 0, id = 0;
  for (uint64_t line = 0; line < load->lines; line += CHUNK, chunk++) {
    id = number * CHUNKS + chunk + 1;
    oc_chunk(core, id, chunk, least(CHUNK, load->lines - line));
  }
  await_children(core, id);
}

/* --- two-sided messages ---------------------------------------------------------------------- */

static void send(unsigned core, unsigned to, uint64_t lines, bool cached) {
  for (uint64_t line = 0; line < lines; line += RCCE_CHUNK) {
    const uint64_t number = ++cores[core].sends[to];
    sim_put_memory(core, least(RCCE_CHUNK, lines - line), cached);
    sim_store_flag(&cores[to].sent[core], number);
    sim_await_flag(&cores[core].received[to], number);
    sim_reset_flag();
  }
}

static void receive(unsigned core, unsigned from, uint64_t lines) {
  for (uint64_t line = 0; line < lines; line += RCCE_CHUNK) {
    const uint64_t number = ++cores[core].receives[from];
    sim_await_flag(&cores[core].sent[from], number);
    sim_reset_flag();
    sim_get_memory(from, least(RCCE_CHUNK, lines - line));
    sim_store_flag(&cores[from].received[core], number);
  }
}

/* A half after the other: the first of each has what the first of all has, or its half's slices. */
static void halve(unsigned core, uint64_t slice, uint64_t whole) {
  bool cached = false;
  for (unsigned first = 0, left = count(); left > 1;) {
    const unsigned half = (left + 1) / 2, other = first + half;
    const uint64_t lines = slice ? least(slice * (left - half), whole) : whole;
    if (core == first)
      send(core, other, lines, cached);
    else if (core == other)
      receive(core, first, lines);
    cached |= core == first || core == other;
    first = core < other ? first : other;
    left = core < other ? half : left - half;
  }
}

static void binomial(unsigned core) { halve(core, 0, load->lines); }

static void scatter_allgather(unsigned core) {
  const uint64_t slice = (load->lines + count() - 1) / count();
  const unsigned left = (core + count() - 1) % count(), right = (core + 1) % count();
  halve(core, slice, load->lines);
  for (unsigned step = 1; step < count(); step++) {
    if (core % 2 == 0)
      send(core, left, slice, true);
    receive(core, right, slice);
    if (core % 2 == 1)
      send(core, left, slice, true);
  }
}

/* --------------------------------------------------------------------------------------------- */

static void broadcast(unsigned core, uint64_t number) {
  if (children)
    oc_bcast(core, number);
  else if (strcmp(load->lock, "binomial") == 0)
    binomial(core);
  else
    scatter_allgather(core);
}

/* Of nothing, a broadcast synchronizes nobody: others may be one ahead, and have to know. */
static void note_begin(uint64_t number) {
  sim_turn();
  if (!last && sim_current->clock >= until)
    last = number + 1;
  broadcasts[number % BROADCASTS].begin = sim_current->clock;
}

static void note_end(uint64_t number) {
  sim_turn();
  if (++broadcasts[number % BROADCASTS].left < count())
    return;
  broadcasts[number % BROADCASTS].left = 0;
  if (sim_current->clock > until)
    return;
  const uint64_t latency = sim_current->clock - broadcasts[number % BROADCASTS].begin;
  all.sections++;
  all.total += latency;
  all.worst = latency > all.worst ? latency : all.worst;
}

static void *work(void *argument) {
  const unsigned core = (unsigned)(uintptr_t)argument;
  for (uint64_t number = 1;; number++) {
    sim_work(1); /* the call */
    if (load->delay) {
      sim_meet(count());
      sim_work(load->delay);
    }
    if (core == 0)
      note_begin(number);
    broadcast(core, number);
    note_end(number);
    if (last && number >= last)
      return NULL;
  }
}

static void make_flags(void) {
  for (unsigned i = 0; i < count(); i++)
    for (unsigned j = 0; j < count(); j++)
      cores[i].notified[j].core = cores[i].done[j].core = cores[i].sent[j].core =
          cores[i].received[j].core = i;
}

void *sim_broadcast_run(void *argument) {
  load = argument;
  until = sim_current->clock + load->cycles;
  const char *tree = "oc-bcast-";
  if (strncmp(load->lock, tree, strlen(tree)) == 0)
    children = (unsigned)atoi(load->lock + strlen(tree));
  make_flags();
  for (unsigned core = 0; core < count(); core++)
    if (!sim_thread_start(work, (void *)(uintptr_t)core, "core", (int)core, false))
      abort();
  return NULL;
}

bool sim_broadcast_count(struct sim_counts *counts) {
  *counts = all;
  counts->jain = 1;
  counts->cycles = load->cycles;
  counts->p99 = all.worst;
  return !wrong;
}
