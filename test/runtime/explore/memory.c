/* SPDX-License-Identifier: MIT
 *
 * The memory model: C11 with views. Every atomic object has a location with all its messages
 * (stores) in modification order. A thread's view holds, for each location, the position of the
 * oldest message that it may still read; it may put a store anywhere after that one. README.md has
 * the rules and what they leave out.
 *
 * Memory itself always holds the value that is last in modification order. Plain accesses go there
 * directly; they are checked for races by vector clocks, against plain and atomic accesses of the
 * same bytes.
 *
 * Each aligned group of eight bytes that an execution touches has a cell. A cell is made at the
 * first touch, and then saves the bytes, from which the end of the execution restores them.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 16, MAX_RECORDS = 40, MAX_VIEWS = 1 << 14 };

struct message {
  uint64_t value;
  const struct view *view; /* what an acquiring reader learns; null: nothing */
  bool update;     /* by a read-modify-write, of the message before it: nothing comes between */
  uint64_t digest; /* of what its writer had done and seen */
};

struct location {
  uintptr_t address;
  int size;
  bool stale;       /* a plain write has replaced the messages; the value is in memory */
  uint16_t floor;   /* the oldest message that anybody may read */
  uint16_t ordered; /* ... that a sequentially consistent load may read */
  uint16_t count, room;
  struct message *message;
  uint64_t chain, part; /* digests of the messages in their order, and of all this */
};

/* One access, for the detection of races. */
struct record {
  uint8_t thread, mask;
  bool write, atomic, freed;
  uint32_t clock;
  uintptr_t pc;
};

struct cell {
  uintptr_t group; /* address / 8 */
  uint16_t records;
  bool written, freed;
  uint64_t saved;
  int16_t location[8]; /* that starts at this byte; -1: none */
  struct record record[MAX_RECORDS];
};

/* In the order of the first touches, so that executions use the same ones over and over. */
static struct cell cells[CELLS];
static uint32_t cell_count;

/* Which cell a group has in the execution with that number. */
static struct slot {
  uintptr_t group;
  uint32_t execution, cell;
} slots[2 * CELLS];

static struct location locations[MAX_LOCATIONS];
static int location_count;

static uint64_t digest; /* the sum of the locations' parts */

static struct view views[MAX_VIEWS];
static int view_count;

/* What kind of access bytes have had in any execution: to know who shares them. */
struct sharing {
  uintptr_t group;
  uint8_t mask; /* of threads */
  bool written, shared, frozen;
};
enum { SHARING = 1 << 14 };
static struct sharing sharing[SHARING];
static bool grew;

static uint32_t hash(uintptr_t group, uint32_t size) {
  return (uint32_t)((group * 0x9e3779b97f4a7c15u) >> 40) & (size - 1);
}

/* --- views ----------------------------------------------------------------------------------- */

static void join(struct view *into, const struct view *from) {
  for (int i = 0; i < MAX_THREADS; i++)
    if (into->clock[i] < from->clock[i])
      into->clock[i] = from->clock[i];
  for (int i = 0; i < location_count; i++)
    if (into->seen[i] < from->seen[i])
      into->seen[i] = from->seen[i];
}

static struct view *copy_of(const struct view *view) {
  if (view_count == MAX_VIEWS)
    out_of_bounds();
  struct view *copy = &views[view_count++];
  memcpy(copy->clock, view->clock, sizeof copy->clock);
  memcpy(copy->seen, view->seen, sizeof copy->seen[0] * (size_t)location_count);
  memset(copy->seen + location_count, 0,
         sizeof copy->seen[0] * (size_t)(MAX_LOCATIONS - location_count));
  return copy;
}

static bool acquires(int order) {
  return order == ACQUIRE || order == CONSUME || order == ACQ_REL || order == SEQ_CST;
}
static bool releases(int order) { return order == RELEASE || order == ACQ_REL || order == SEQ_CST; }

/* --- cells and races ------------------------------------------------------------------------- */

static struct cell *cell_of(uintptr_t group) {
  uint32_t at = hash(group, 2 * CELLS);
  while (slots[at].execution == execution && slots[at].group != group)
    at = (at + 1) & (2 * CELLS - 1);
  struct slot *slot = &slots[at];
  if (slot->execution == execution)
    return &cells[slot->cell];
  if (cell_count == CELLS) {
    fprintf(stderr, "explore: an execution touches too much memory\n");
    exit(2);
  }
  *slot = (struct slot){group, execution, cell_count};
  struct cell *cell = &cells[cell_count++];
  cell->group = group;
  cell->records = 0;
  cell->written = cell->freed = false;
  memcpy(&cell->saved, (void *)(group * 8), 8);
  memset(cell->location, -1, sizeof cell->location);
  return cell;
}

static const char *kind_name(bool write, bool atomic) {
  return atomic ? write ? "atomic write" : "atomic read" : write ? "write" : "read";
}

static void report_race(const struct record *old, const void *address, bool write, bool atomic,
                        uintptr_t pc) {
  trace(pc, "%s of %s races", kind_name(write, atomic), address_name(address));
  char lines[2][64];
  source_lines((uintptr_t[]){old->pc, pc}, 2, lines);
  finding("data race on %s: %s by thread %d in %s (%s) and %s by thread %d in %s (%s)",
          address_name(address),
          old->freed ? "release of the memory" : kind_name(old->write, old->atomic), old->thread,
          function_name(old->pc), lines[0], kind_name(write, atomic), current->id,
          function_name(pc), lines[1]);
}

static void report_freed(const void *address, bool write, bool atomic, uintptr_t pc) {
  trace(pc, "%s of %s, which was freed", kind_name(write, atomic), address_name(address));
  char line[64];
  source_lines(&pc, 1, &line);
  finding("access to freed memory: %s of %s by thread %d in %s (%s)", kind_name(write, atomic),
          address_name(address), current->id, function_name(pc), line);
}

/* Checks an access to the bytes `mask` of a cell and records it. */
static void check(struct cell *cell, uint8_t mask, bool write, bool atomic, bool freed,
                  uintptr_t pc) {
  const void *address = (const char *)(cell->group * 8) + __builtin_ctz(mask);
  if (cell->freed)
    report_freed(address, write, atomic, pc);
  struct view *view = &current->view;
  cell->written |= write;
  struct record *same = NULL;
  for (int i = 0; i < cell->records; i++) {
    struct record *old = &cell->record[i];
    if (!(old->mask & mask))
      continue;
    if (old->thread == current->id) {
      if (old->write == write && old->atomic == atomic && (old->mask & ~mask) == 0)
        same = old;
    } else if ((write || old->write) && !(atomic && old->atomic) &&
               view->clock[old->thread] < old->clock) {
      report_race(old, address, write, atomic, pc);
    }
  }
  if (!same) {
    if (cell->records == MAX_RECORDS) {
      fprintf(stderr, "explore: too many kinds of accesses to %s\n", address_name(address));
      exit(2);
    }
    same = &cell->record[cell->records++];
  }
  *same = (struct record){(uint8_t)current->id,     mask, write, atomic, freed,
                          view->clock[current->id], pc};
}

/* A plain write replaces what the atomic operations knew. */
static void forget_messages(struct cell *cell, uint8_t mask) {
  for (int i = 0; i < 8; i++)
    if (cell->location[i] >= 0) {
      struct location *location = &locations[cell->location[i]];
      uint8_t bytes = (uint8_t)(((1u << location->size) - 1) << i);
      if (bytes & mask)
        location->stale = true;
    }
}

static void access_range(const void *address, size_t size, bool write, bool freed, uintptr_t pc) {
  uintptr_t at = (uintptr_t)address, end = at + size;
  while (at < end) {
    uintptr_t group_end = (at | 7) + 1, stop = end < group_end ? end : group_end;
    uint8_t mask = (uint8_t)(((1u << (stop - at)) - 1) << (at & 7));
    struct cell *cell = cell_of(at / 8);
    check(cell, mask, write, false, freed, pc);
    if (write)
      forget_messages(cell, mask);
    if (freed)
      cell->freed = true;
    at = stop;
  }
}

void plain_access(const void *address, size_t size, bool write, uintptr_t pc) {
  if (current)
    access_range(address, size, write, false, pc);
}

void memory_freed(void *address, size_t size, uintptr_t pc) {
  trace(pc, "frees %s", address_name(address));
  access_range(address, size, true, true, pc);
}

/* --- who shares what ------------------------------------------------------------------------- */

static struct sharing *sharing_of(uintptr_t group) {
  for (uint32_t at = hash(group, SHARING);; at = (at + 1) & (SHARING - 1)) {
    if (!sharing[at].group)
      sharing[at].group = group;
    if (sharing[at].group == group)
      return &sharing[at];
  }
}

/* Notes the access, and tells whether the search takes the bytes for shared. */
static bool is_shared(const void *address, bool write) {
  struct sharing *entry = sharing_of((uintptr_t)address / 8);
  entry->mask |= (uint8_t)(1u << current->id);
  entry->written |= write;
  if (!entry->shared && entry->written && (entry->mask & (entry->mask - 1))) {
    entry->shared = true;
    grew = true;
  }
  return entry->frozen;
}

void sharing_forget(void) { memset(sharing, 0, sizeof sharing); }

void sharing_freeze(void) {
  for (int i = 0; i < SHARING; i++)
    sharing[i].frozen = sharing[i].shared;
  grew = false;
}

bool sharing_grew(void) { return grew; }

/* --- atomic operations ----------------------------------------------------------------------- */

static uint64_t read_memory(const void *address, int size) {
  uint64_t value = 0;
  memcpy(&value, address, (size_t)size); /* little-endian */
  return value;
}

static void write_memory(void *address, int size, uint64_t value) {
  memcpy(address, &value, (size_t)size);
}

/* Its messages, or which of them may be read, have changed. */
static void note_order(struct location *location) {
  const uint64_t part = mixed(mixed(location->address, location->chain),
                              (uint64_t)location->floor << 16 | location->ordered);
  digest += part - location->part;
  location->part = part;
}

uint64_t memory_digest(void) { return digest; }

/* Makes room for a message at a position that is not the last: every view of the messages behind
 * it moves. */
static void move_views(const struct location *location, uint16_t position) {
  size_t id = (size_t)(location - locations);
  for (int t = 0; t < thread_count; t++)
    threads[t].view.seen[id] += threads[t].view.seen[id] >= position;
  for (int v = 0; v < view_count; v++)
    views[v].seen[id] += views[v].seen[id] >= position;
}

static void add_message(struct location *location, uint16_t position, struct message message) {
  if (location->count == location->room) {
    if (location->room >= UINT16_MAX / 2)
      out_of_bounds();
    location->room = location->room ? (uint16_t)(location->room * 2) : 64;
    location->message =
        realloc(location->message, sizeof *location->message * (size_t)location->room);
  }
  struct message *at = &location->message[position];
  if (position < location->count) {
    memmove(at + 1, at, sizeof *at * (size_t)(location->count - position));
    move_views(location, position);
    location->ordered += location->ordered >= position;
  }
  *at = message;
  location->count++;
  if (position < location->count - 1)
    location->chain = position = 0;
  for (; position < location->count; position++)
    location->chain = mixed(location->chain, location->message[position].digest);
  note_order(location);
}

/* The only thread of a forked child reads and writes memory itself, which has all bytes. */
static bool alone;

/* Outside of executions too. Notes what the end of the execution restores. */
static bool is_direct(void *address, int size, bool write) {
  if (!current)
    return true;
  if (!alone)
    return false;
  schedule_point(false);
  struct cell *cell = cell_of((uintptr_t)address / 8);
  cell->written |= write;
  if (write)
    forget_messages(cell, (uint8_t)(((1u << size) - 1) << ((uintptr_t)address & 7)));
  return true;
}

static struct location *location_of(void *address, int size, bool write, uintptr_t pc) {
  uintptr_t at = (uintptr_t)address;
  struct cell *cell = cell_of(at / 8);
  check(cell, (uint8_t)(((1u << size) - 1) << (at & 7)), write, true, false, pc);
  int16_t *slot = &cell->location[at & 7];
  if (*slot < 0) {
    if (location_count == MAX_LOCATIONS)
      out_of_bounds();
    *slot = (int16_t)location_count;
    struct location *made = &locations[location_count++];
    made->address = at;
    made->size = size;
    made->count = made->floor = made->ordered = 0;
    made->chain = made->part = 0;
    made->stale = true;
  }
  struct location *location = &locations[*slot];
  if (location->size != size) {
    fprintf(stderr, "explore: atomic operations of different sizes on %s are not modelled\n",
            address_name(address));
    exit(2);
  }
  if (location->stale) {
    location->stale = false;
    location->floor = location->count;
    const uint64_t value = read_memory(address, size);
    add_message(
        location, location->count,
        (struct message){.value = value, .digest = mixed(mixed(at, value), location->count + 1u)});
  }
  return location;
}

static uint16_t *seen_by_current(struct location *location) {
  return &current->view.seen[location - locations];
}

struct site sites[MAX_SITES];
int site_count;
const uintptr_t *mutant_pcs;
int mutant_pc_count, mutant_from, mutant_to;

/* Notes the place, and weakens its order where this is the mutant's. */
static int order_at(uintptr_t pc, const char *operation, int order) {
  if (order == RELAXED)
    return order;
  for (int i = 0; i < mutant_pc_count; i++)
    if (mutant_pcs[i] == pc && mutant_from == order)
      return mutant_to;
  if (mutant_pc_count)
    return order;
  for (int i = 0; i < site_count; i++)
    if (sites[i].pc == pc)
      return order;
  if (site_count < MAX_SITES)
    sites[site_count++] = (struct site){pc, operation, order};
  return order;
}

/* Reads the message that is `back` before the last. */
static uint64_t read_message(struct location *location, int order, unsigned back, uintptr_t pc) {
  uint16_t position = (uint16_t)(location->count - 1 - back);
  const struct message *message = &location->message[position];
  *seen_by_current(location) = position;
  saw(message->digest);
  current->values = mixed(mixed(current->values, pc), message->value);
  if (acquires(order) && message->view)
    join(&current->view, message->view);
  if (order == SEQ_CST && location->ordered < position) {
    location->ordered = position;
    note_order(location);
  }
  return message->value;
}

/* How many messages are not older than the view allows. */
static unsigned candidates(struct location *location, int order) {
  unsigned oldest = *seen_by_current(location);
  if (oldest < location->floor)
    oldest = location->floor;
  if (order == SEQ_CST && oldest < location->ordered)
    oldest = location->ordered;
  unsigned count = location->count - oldest;
  return count < MAX_BACK ? count : MAX_BACK;
}

/* Whether a message can be put behind the one that is `back` before the last. */
static bool has_room_behind(const struct location *location, unsigned back) {
  return back == 0 || !location->message[location->count - back].update;
}

/* Puts a message behind the one that is `back` before the last, and in memory if that is the last.
 * continued: what a read-modify-write passes on, which belongs to the release sequence. */
static void write_message(struct location *location, unsigned back, uint64_t value, int order,
                          bool update, const struct view *continued) {
  struct thread *self = current;
  uint16_t position = (uint16_t)(location->count - back);
  add_message(location, position, (struct message){value, NULL, update, self->past});
  *seen_by_current(location) = position;
  const struct view *view = continued;
  if (releases(order)) {
    struct view *published = copy_of(&self->view);
    if (continued)
      join(published, continued);
    view = published;
    self->view.clock[self->id]++;
  }
  location->message[position].view = view;
  if (order == SEQ_CST && location->ordered < position) {
    location->ordered = position;
    note_order(location);
  }
  void *address = (void *)location->address;
  if (back == 0 && read_memory(address, location->size) != value) {
    write_memory(address, location->size, value);
    state_changed();
  }
}

static const char *remark(unsigned back) { return back ? " (not the last)" : ""; }

/* A loop that loads and never changes anything waits for somebody else. */
enum { IDLE_LOADS = 60 };

uint64_t atomic_load(void *address, int size, int order, uintptr_t pc) {
  struct thread *self = current;
  if (is_direct(address, size, false))
    return read_memory(address, size);
  schedule_point(is_shared(address, false));
  order = order_at(pc, "load", order);
  struct location *location = location_of(address, size, false, pc);
  uint16_t backs[MAX_BACK];
  unsigned count = candidates(location, order);
  for (unsigned i = 0; i < count; i++)
    backs[i] = (uint16_t)i;
  unsigned back = choose_message(backs, count);
  uint64_t value = read_message(location, order, back, pc);
  if (is_decrement(pc))
    self->in_decrement = true;
  trace(pc, "load %s of %s: %llx%s", order_name(order), address_name(address),
        (unsigned long long)value, remark(back));
  if (++self->idle_loads > IDLE_LOADS) {
    self->idle_loads = 0;
    yield_thread();
  }
  return value;
}

void atomic_store(void *address, int size, uint64_t value, int order, uintptr_t pc) {
  struct thread *self = current;
  if (is_direct(address, size, true)) {
    write_memory(address, size, value);
    return;
  }
  schedule_point(is_shared(address, true));
  order = order_at(pc, "store", order);
  struct location *location = location_of(address, size, true, pc);
  uint16_t backs[MAX_BACK];
  unsigned count = 0;
  for (unsigned i = 0; i < candidates(location, order); i++)
    if (has_room_behind(location, i))
      backs[count++] = (uint16_t)i;
  unsigned back = choose_message(backs, count);
  write_message(location, back, value, order, false, NULL);
  if (is_decrement(pc))
    self->in_decrement = false;
  trace(pc, "store %s to %s: %llx%s", order_name(order), address_name(address),
        (unsigned long long)value, remark(back));
}

static uint64_t apply(enum rmw operation, uint64_t old, uint64_t value) {
  switch (operation) {
  case EXCHANGE:
    return value;
  case ADD:
    return old + value;
  case SUB:
    return old - value;
  case AND:
    return old & value;
  case OR:
    return old | value;
  case XOR:
    return old ^ value;
  case NAND:
    return ~(old & value);
  }
  abort();
}

static const char *const rmw_name[] = {"exchange", "add", "subtract", "and", "or", "xor", "nand"};

static uint64_t truncated(uint64_t value, int size) {
  return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

uint64_t atomic_rmw(void *address, int size, enum rmw operation, uint64_t value, int order,
                    uintptr_t pc) {
  if (is_direct(address, size, true)) {
    uint64_t old = read_memory(address, size);
    write_memory(address, size, apply(operation, old, value));
    return old;
  }
  schedule_point(is_shared(address, true));
  order = order_at(pc, rmw_name[operation], order);
  struct location *location = location_of(address, size, true, pc);
  uint16_t backs[MAX_BACK];
  unsigned count = 0;
  for (unsigned i = 0; i < candidates(location, order); i++)
    if (has_room_behind(location, i))
      backs[count++] = (uint16_t)i;
  unsigned back = choose_message(backs, count);
  uint64_t old = read_message(location, order, back, pc);
  uint64_t new = truncated(apply(operation, old, value), size);
  write_message(location, back, new, order, true,
                location->message[location->count - 1 - back].view);
  trace(pc, "%s %s on %s: %llx -> %llx%s", rmw_name[operation], order_name(order),
        address_name(address), (unsigned long long)old, (unsigned long long)new, remark(back));
  return old;
}

/* A failing one is a load; where it has the same order as one that succeeds, a mutant weakens both. */
uint64_t atomic_cas(void *address, int size, uint64_t expected, uint64_t value, int order,
                    int failure_order, uintptr_t pc) {
  if (is_direct(address, size, true)) {
    uint64_t old = read_memory(address, size);
    if (old == expected)
      write_memory(address, size, value);
    return old;
  }
  schedule_point(is_shared(address, true));
  const int weakened = order_at(pc, "compare-and-swap", order);
  if (failure_order == order)
    failure_order = weakened;
  order = weakened;
  struct location *location = location_of(address, size, true, pc);
  uint16_t backs[MAX_BACK];
  unsigned count = 0;
  for (unsigned i = 0; i < candidates(location, order); i++)
    if (location->message[location->count - 1 - i].value != expected ||
        has_room_behind(location, i))
      backs[count++] = (uint16_t)i;
  unsigned back = choose_message(backs, count);
  uint64_t old = location->message[location->count - 1 - back].value;
  if (old != expected) {
    read_message(location, failure_order, back, pc);
    trace(pc, "compare-and-swap on %s: fails, %llx is not %llx%s", address_name(address),
          (unsigned long long)old, (unsigned long long)expected, remark(back));
    return old;
  }
  read_message(location, order, back, pc);
  write_message(location, back, value, order, true,
                location->message[location->count - 1 - back].view);
  trace(pc, "compare-and-swap %s on %s: %llx -> %llx%s", order_name(order), address_name(address),
        (unsigned long long)old, (unsigned long long)value, remark(back));
  return old;
}

/* What every thread has stored is visible to every thread. No happens-before comes from it. */
void full_barrier(void) {
  for (int t = 0; t < thread_count; t++) {
    threads[t].past = mixed(threads[t].past, digest);
    for (int i = 0; i < location_count; i++)
      if (locations[i].count > 0)
        threads[t].view.seen[i] = (uint16_t)(locations[i].count - 1);
  }
}

void memory_copied(void) {
  full_barrier();
  for (int t = 0; t < thread_count; t++)
    current->view.clock[t] = threads[t].view.clock[t];
  alone = true;
}

void memory_has_company(void) { alone = false; }

uint32_t newest_value(const uint32_t *word) { return *word; }

void memory_begin(void) {
  alone = false;
  location_count = 0;
  view_count = 0;
  cell_count = 0;
  digest = 0;
}

void memory_end(void) {
  for (uint32_t i = 0; i < cell_count; i++) {
    void *group = (void *)(cells[i].group * 8);
    if (cells[i].written && !on_fiber_stack(group))
      memcpy(group, &cells[i].saved, 8);
  }
}
