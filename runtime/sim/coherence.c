/* SPDX-License-Identifier: MIT
 *
 * The coherence protocol: invalidation, with a directory at each line's home node.
 *
 * States. Of a line, the directory knows who has copies and who answers for it.
 *
 *   in memory     no owner, no copies
 *   exclusive     one copy, its core is the owner                         M or E
 *   owned         copies; the owner, which wrote last, sends more of them O (owner keeps)
 *   shared        copies; no owner, the nearest copy or memory sends them S, or F
 *
 *   read miss:  exclusive -> owned, or shared where the owner does not keep a dirty line;
 *               in memory -> exclusive
 *   write:      any -> exclusive, and all other copies go
 *
 * Time. A request begins when the home's directory can take it and the line's last transfer lets
 * it. It takes as long as the way from whoever answers, by hops; to get rid of other copies takes
 * as long as the farthest one's way, and some more for each. Meanwhile the line is occupied, for
 * the part of that time that the machine says: so requests queue up at a line, in their order.
 *
 * A store does not wait for the line. It lies in the core's store buffer, and an atomic operation,
 * or a store when the buffer is full, waits until the earlier ones are done; entry.c.
 *
 * Where writes are done at home (TILE-Gx), a line stays there: readers get copies, a write goes to
 * the home, and from there all copies but the writer's go; an atomic operation is done there, and
 * takes the writer's as well. The next request of the line begins when the copies have gone.
 *
 * Not modelled: sizes and associativity of caches, the links' bandwidth, prefetching.
 */
#include "coherence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_traffic sim_traffic[SIM_MAX_CORES];

static const struct sim_machine *machine;
static uint64_t home_free_at[SIM_MAX_NODES];
static unsigned copy_words; /* of a line's set of copies */

/* --- the lines that there are ---------------------------------------------------------------- */

/* Lines stay where they are; the table grows. */
static struct sim_line **table;
static size_t table_size, line_count;

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) {
    fprintf(stderr, "relock-simulator: no memory for the lines of the simulated machine\n");
    exit(2);
  }
  return memory;
}

static size_t place_of(uintptr_t address, size_t size) {
  return (size_t)((address * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);
}

static void insert(struct sim_line *line) {
  size_t at = place_of(line->address, table_size);
  while (table[at])
    at = (at + 1) & (table_size - 1);
  table[at] = line;
}

static void grow(void) {
  struct sim_line **old = table;
  const size_t old_size = table_size;
  table_size = old_size ? 2 * old_size : 1 << 14;
  table = allocate(table_size, sizeof *table);
  for (size_t i = 0; i < old_size; i++)
    if (old[i])
      insert(old[i]);
  free(old);
}

/* The node whose core touches a page first has its memory: as Linux places it. Where lines are
 * spread, that is so of stacks. */
static unsigned home_of(uintptr_t address, unsigned core) {
  if (machine->hashed_homes && sim_is_on_stack(address * SIM_LINE_SIZE))
    return sim_node_of_core(machine, core);
  if (machine->hashed_homes)
    return (unsigned)(((address * 0x9e3779b97f4a7c15u) >> 40) % machine->nodes);
  enum { PAGE_LINES = 4096 / SIM_LINE_SIZE, PAGES = 1 << 16 };
  static struct {
    uintptr_t page;
    uint16_t home;
  } pages[PAGES];
  static size_t page_count;
  const uintptr_t page = address / PAGE_LINES;
  size_t at = place_of(page, PAGES);
  while (pages[at].page && pages[at].page != page)
    at = (at + 1) & (PAGES - 1);
  if (!pages[at].page) {
    if (++page_count == PAGES) {
      fprintf(stderr, "relock-simulator: more than %d pages of memory are in use\n", PAGES);
      exit(2);
    }
    pages[at].page = page;
    pages[at].home = (uint16_t)sim_node_of_core(machine, core);
  }
  return pages[at].home;
}

/* Lines come from chunks. */
static struct sim_line *new_line(uintptr_t address, unsigned core) {
  enum { CHUNK = 1024 };
  static struct sim_line *chunk;
  static uint64_t *copies;
  static size_t left;
  if (left == 0) {
    chunk = allocate(CHUNK, sizeof *chunk);
    copies = allocate(CHUNK, copy_words * sizeof *copies);
    left = CHUNK;
  }
  left--;
  struct sim_line *line = &chunk[left];
  line->address = address;
  line->copies = copies + left * copy_words;
  line->owner = -1;
  line->home = (uint16_t)home_of(address, core);
  return line;
}

struct sim_line *sim_line_of(uintptr_t address, unsigned core) {
  address /= SIM_LINE_SIZE;
  size_t at = place_of(address, table_size);
  while (table[at] && table[at]->address != address)
    at = (at + 1) & (table_size - 1);
  if (table[at])
    return table[at];
  if (4 * ++line_count > 3 * table_size)
    grow();
  struct sim_line *line = new_line(address, core);
  insert(line);
  return line;
}

void sim_coherence_start(const struct sim_machine *simulated) {
  machine = simulated;
  copy_words = (sim_cores(machine) + 63) / 64;
  grow();
}

/* --- copies ---------------------------------------------------------------------------------- */

bool sim_has_copy(const struct sim_line *line, unsigned core) {
  return line->copies[core / 64] >> core % 64 & 1;
}

static void add_copy(struct sim_line *line, unsigned core) {
  line->copies[core / 64] |= UINT64_C(1) << core % 64;
}

static unsigned hops_between(unsigned core, unsigned node) {
  return machine->hops[sim_node_of_core(machine, core)][node];
}

/* Hops from a node to the farthest copy of another core, and how many there are; to the nearest
 * one. */
struct holders {
  unsigned farthest, nearest, count;
};
static struct holders holders_of(const struct sim_line *line, unsigned core, unsigned node) {
  struct holders holders = {0, SIM_MAX_HOPS + 1, 0};
  for (unsigned word = 0; word < copy_words; word++)
    for (uint64_t bits = line->copies[word]; bits; bits &= bits - 1) {
      const unsigned other = word * 64 + (unsigned)__builtin_ctzll(bits);
      if (other == core)
        continue;
      const unsigned hops = machine->hops[node][sim_node_of_core(machine, other)];
      holders.count++;
      holders.farthest = hops > holders.farthest ? hops : holders.farthest;
      holders.nearest = hops < holders.nearest ? hops : holders.nearest;
    }
  return holders;
}

/* --- requests -------------------------------------------------------------------------------- */

/* When a request of this time begins, and the directory is the next one's. */
static uint64_t begin(struct sim_line *line, unsigned core, uint64_t now) {
  uint64_t start = now;
  if (start < line->free_at)
    start = line->free_at;
  if (start < home_free_at[line->home])
    start = home_free_at[line->home];
  home_free_at[line->home] = start + machine->home;
  sim_traffic[core].queueing += start - now;
  return start;
}

/* How long the line is on its way to the core, which has no copy. */
static uint64_t fetch(const struct sim_line *line, unsigned core, const struct holders *holders) {
  struct sim_traffic *traffic = &sim_traffic[core];
  const unsigned home = hops_between(core, line->home);
  if (line->owner >= 0) {
    const unsigned hops = hops_between(core, sim_node_of_core(machine, (unsigned)line->owner));
    traffic->transfers[hops]++;
    return machine->transfer[hops];
  }
  if (holders->count > 0 && holders->nearest <= home) {
    traffic->transfers[holders->nearest]++;
    return machine->transfer[holders->nearest];
  }
  traffic->memory++;
  return machine->memory[home];
}

/* --- lines that stay at home ----------------------------------------------------------------- */

/* There and back. Memory has it until somebody has asked for it. */
static uint64_t way_home(struct sim_line *line, unsigned core) {
  const unsigned hops = hops_between(core, line->home);
  if (line->owner < 0) {
    line->owner = line->home;
    sim_traffic[core].memory++;
    return machine->memory[hops];
  }
  sim_traffic[core].transfers[hops]++;
  return machine->transfer[hops];
}

static uint64_t read_at_home(struct sim_line *line, unsigned core, uint64_t now) {
  const uint64_t start = begin(line, core, now), taken = way_home(line, core);
  sim_traffic[core].transferring += taken;
  line->free_at = start + machine->home;
  add_copy(line, core);
  return start + taken;
}

/* When the writer knows. */
static uint64_t write_at_home(struct sim_line *line, unsigned core, uint64_t now, bool keeps) {
  line->writes++;
  const uint64_t start = begin(line, core, now), taken = way_home(line, core);
  const bool had = sim_has_copy(line, core);
  const struct holders holders = holders_of(line, core, line->home);
  const uint64_t gone = holders.count > 0 ? machine->transfer[holders.farthest] +
                                                (holders.count - 1) * machine->invalidate
                                          : 0;
  sim_traffic[core].invalidations += holders.count;
  sim_traffic[core].transferring += taken + gone;
  line->free_at = start + (gone > machine->home ? gone : machine->home);
  memset(line->copies, 0, copy_words * sizeof *line->copies);
  if (had && keeps)
    add_copy(line, core);
  if (line->watches)
    sim_line_lost(line, start + (taken + gone) / 2);
  return start + taken + gone;
}

/* --- accesses -------------------------------------------------------------------------------- */

uint64_t sim_read(struct sim_line *line, unsigned core, uint64_t now, bool *hit) {
  struct sim_traffic *traffic = &sim_traffic[core];
  traffic->accesses++;
  *hit = sim_has_copy(line, core);
  if (*hit) {
    traffic->hits++;
    return now + machine->hit;
  }
  if (machine->writes_at_home)
    return read_at_home(line, core, now);
  const uint64_t start = begin(line, core, now);
  const struct holders holders = line->owner < 0
                                     ? holders_of(line, core, sim_node_of_core(machine, core))
                                     : (struct holders){0, 0, 0};
  const uint64_t taken = fetch(line, core, &holders);
  traffic->transferring += taken;
  line->free_at = start + taken * machine->read_occupancy / 100;
  if (line->owner < 0 && holders.count == 0) {
    line->owner = (int32_t)core;
    line->exclusive = true;
  } else {
    line->exclusive = false;
    if (!machine->owner_keeps)
      line->owner = -1;
  }
  add_copy(line, core);
  return start + taken;
}

uint64_t sim_write(struct sim_line *line, unsigned core, uint64_t now, bool *hit) {
  struct sim_traffic *traffic = &sim_traffic[core];
  traffic->accesses++;
  *hit = sim_has_alone(line, core);
  if (*hit) {
    traffic->hits++;
    line->writes++;
    if (line->watches) /* by a thread of the same core */
      sim_line_lost(line, now + machine->hit);
    return now + machine->hit;
  }
  if (machine->writes_at_home)
    return write_at_home(line, core, now, true);
  line->writes++;
  const uint64_t start = begin(line, core, now);
  const struct holders holders = holders_of(line, core, sim_node_of_core(machine, core));
  uint64_t taken = sim_has_copy(line, core) ? 0 : fetch(line, core, &holders);
  if (holders.count > 0) {
    const uint64_t others =
        machine->transfer[holders.farthest] + (holders.count - 1) * machine->invalidate;
    taken = taken > others ? taken : others;
    traffic->invalidations += holders.count;
  } else if (taken == 0) { /* the last copy, but shared once: the directory says so */
    taken = machine->transfer[hops_between(core, line->home)];
  }
  traffic->transferring += taken;
  line->free_at = start + taken * machine->write_occupancy / 100;
  memset(line->copies, 0, copy_words * sizeof *line->copies);
  add_copy(line, core);
  line->owner = (int32_t)core;
  line->exclusive = true;
  if (line->watches)
    sim_line_lost(line, start + taken);
  return start + taken;
}

uint64_t sim_update(struct sim_line *line, unsigned core, uint64_t now, bool *hit) {
  if (!machine->writes_at_home)
    return sim_write(line, core, now, hit);
  sim_traffic[core].accesses++;
  *hit = false;
  return write_at_home(line, core, now, false);
}
