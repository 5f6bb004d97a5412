/* SPDX-License-Identifier: MIT
 *
 * What code that was built for the simulated machine calls: the entry points of ThreadSanitizer,
 * which compilers put before each access to memory, and what arch.h has of the processor.
 *
 * Atomic operations, and accesses to lines that the core does not have, happen when it is their
 * thread's turn, in the order of the machine's time. Others need not wait for it: programs without
 * data races see no difference. So what a program
 * finds in memory is sequentially consistent; memory orders and store buffers decide about times.
 */
#include "entry.h"

#include "coherence.h"
#include "explain.h"
#include "processors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RELAXED = 0, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST }; /* the compilers' numbers */

static const struct sim_machine *machine;

void sim_entry_start(const struct sim_machine *simulated) { machine = simulated; }

/* --- stores ---------------------------------------------------------------------------------- */

static void forget_done_stores(struct sim_thread *self) {
  while (self->store_count > 0 && self->stores[self->first_store] <= self->clock) {
    self->first_store = (self->first_store + 1) % SIM_MAX_STORES;
    self->store_count--;
  }
}

static void await_stores(struct sim_thread *self) {
  if (self->clock < self->stores_done)
    self->clock = self->stores_done;
  self->store_count = 0;
}

/* The core goes on while the line comes, unless the buffer is full. */
static void store(struct sim_line *line, bool release) {
  struct sim_thread *self = sim_current;
  const uint64_t before = self->clock;
  forget_done_stores(self);
  if (self->store_count == machine->store_buffer) {
    self->clock = self->stores[self->first_store];
    forget_done_stores(self);
  }
  const uint64_t waited = self->clock - before;
  const bool ordered = machine->total_store_order || release;
  const uint64_t begin =
      ordered && self->stores_done > self->clock ? self->stores_done : self->clock;
  bool hit;
  const uint64_t done = sim_write(line, sim_current_core(machine), begin, &hit);
  sim_loop_accesses(line, hit);
  if (!hit)
    sim_place_missed(self->at, waited); /* for the buffer */
  if (hit && begin == self->clock)
    return;
  if (done > self->stores_done)
    self->stores_done = done;
  if (line->free_at < done &&
      !machine->writes_at_home) /* others can have it when it has come and was written */
    line->free_at = done;
  self->stores[(self->first_store + self->store_count++) % SIM_MAX_STORES] = self->stores_done;
}

/* --- plain accesses -------------------------------------------------------------------------- */

static void load(struct sim_line *line, bool looks) {
  struct sim_thread *self = sim_current;
  const uint64_t before = self->clock;
  bool hit;
  self->clock = sim_read(line, sim_current_core(machine), before, &hit);
  if (!hit)
    sim_place_missed(self->at, self->clock - before);
  sim_loop_accesses(line, hit);
  if (looks)
    sim_loop_looks(line);
}

void sim_access(const void *address, size_t size, bool write) {
  if (!sim_current)
    return;
  const uintptr_t end = (uintptr_t)address + size;
  for (uintptr_t at = (uintptr_t)address; at < end; at = (at / SIM_LINE_SIZE + 1) * SIM_LINE_SIZE) {
    sim_work(machine->instruction);
    struct sim_line *line = sim_line_of(at, sim_current_core(machine));
    if (!(write ? sim_has_alone : sim_has_copy)(line, sim_current_core(machine)))
      sim_turn();
    if (write)
      store(line, false);
    else
      load(line, false);
  }
}

/* The place in the code of the access that comes now; others may have their turn before it. */
#define HERE __builtin_return_address(0)
static void at(const void *place) {
  if (sim_current)
    sim_current->at = place;
}

#define PLAIN(name, size, write)                                                                   \
  void __tsan_##name(void *address);                                                               \
  void __tsan_##name(void *address) {                                                              \
    at(HERE);                                                                                      \
    sim_access(address, size, write);                                                              \
  }
#define BOTH(name, size)                                                                           \
  void __tsan_##name(void *address);                                                               \
  void __tsan_##name(void *address) {                                                              \
    at(HERE);                                                                                      \
    sim_access(address, size, false);                                                              \
    sim_access(address, size, true);                                                               \
  }
#include "tsan_accesses.def"

void __tsan_read_range(void *address, size_t size);
void __tsan_read_range(void *address, size_t size) {
  at(HERE);
  sim_access(address, size, false);
}
void __tsan_write_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size) {
  at(HERE);
  sim_access(address, size, true);
}
void *__tsan_memset(void *address, int value, size_t size);
void *__tsan_memset(void *address, int value, size_t size) {
  sim_access(address, size, true);
  return memset(address, value, size);
}
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size) {
  sim_access(from, size, false);
  sim_access(to, size, true);
  return memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size) {
  sim_access(from, size, false);
  sim_access(to, size, true);
  return memmove(to, from, size);
}

void __tsan_init(void);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller) {
  (void)caller;
  if (sim_current)
    sim_work(machine->instruction);
}
void __tsan_func_exit(void);
void __tsan_func_exit(void) {
  if (sim_current)
    sim_work(machine->instruction);
}
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
  if (sim_current && order == SEQ_CST)
    await_stores(sim_current);
}
void sim_fence(void) { __tsan_atomic_thread_fence(SEQ_CST); }
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* --- atomic operations ----------------------------------------------------------------------- */

static struct sim_line *atomic_line(const void *address) {
  sim_work(machine->instruction);
  sim_turn();
  return sim_line_of((uintptr_t)address, sim_current_core(machine));
}

static void atomic_load(const void *address) {
  if (sim_current)
    load(atomic_line(address), true);
}

static void atomic_store(const void *address, int order) {
  if (!sim_current)
    return;
  struct sim_line *line = atomic_line(address);
  store(line, order != RELAXED);
  sim_loop_acts(); /* others may look at it: a count of rounds, for example */
  if (order == SEQ_CST)
    await_stores(sim_current);
}

/* Until it is the thread's turn. */
static void begin_update(void) {
  if (!sim_current)
    return;
  sim_work(machine->instruction);
  sim_turn();
}

/* The core waits for the line, and for its earlier stores. `looks`: a compare-and-swap that fails
 * is what a loop may spin with. */
static void update(const void *address, bool looks) {
  struct sim_thread *self = sim_current;
  if (!self)
    return;
  struct sim_line *line = sim_line_of((uintptr_t)address, sim_current_core(machine));
  const uint64_t before = self->clock;
  await_stores(self);
  bool hit;
  const uint64_t done = sim_update(line, sim_current_core(machine), self->clock, &hit);
  self->clock = done + machine->atomic;
  if (line->free_at < self->clock && !machine->writes_at_home)
    line->free_at = self->clock;
  if (!hit)
    sim_place_missed(self->at, self->clock - before);
  sim_loop_accesses(line, hit);
  if (looks)
    sim_loop_looks(line);
  else
    self->idle = false;
}

#define ATOMICS(bits)                                                                              \
  uint##bits##_t __tsan_atomic##bits##_load(uint##bits##_t *address, int order);                   \
  uint##bits##_t __tsan_atomic##bits##_load(uint##bits##_t *address, int order) {                  \
    (void)order;                                                                                   \
    at(HERE);                                                                                      \
    atomic_load(address);                                                                          \
    return *address;                                                                               \
  }                                                                                                \
  void __tsan_atomic##bits##_store(uint##bits##_t *address, uint##bits##_t value, int order);      \
  void __tsan_atomic##bits##_store(uint##bits##_t *address, uint##bits##_t value, int order) {     \
    at(HERE);                                                                                      \
    atomic_store(address, order);                                                                  \
    *address = value;                                                                              \
  }                                                                                                \
  UPDATE(bits, exchange, value)                                                                    \
  UPDATE(bits, fetch_add, (uint##bits##_t)(old + value))                                           \
  UPDATE(bits, fetch_sub, (uint##bits##_t)(old - value))                                           \
  UPDATE(bits, fetch_and, (uint##bits##_t)(old & value))                                           \
  UPDATE(bits, fetch_or, (uint##bits##_t)(old | value))                                            \
  UPDATE(bits, fetch_xor, (uint##bits##_t)(old ^ value))                                           \
  UPDATE(bits, fetch_nand, (uint##bits##_t) ~(old & value))                                        \
  static uint##bits##_t compare##bits(uint##bits##_t *address, uint##bits##_t expected,            \
                                      uint##bits##_t value) {                                      \
    begin_update();                                                                                \
    const uint##bits##_t old = *address;                                                           \
    update(address, old != expected);                                                              \
    if (old == expected)                                                                           \
      *address = value;                                                                            \
    return old;                                                                                    \
  }                                                                                                \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                       \
      uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t value, int order,           \
      int failure);                                                                                \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                       \
      uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t value, int order,           \
      int failure) {                                                                               \
    (void)order, (void)failure;                                                                    \
    at(HERE);                                                                                      \
    return compare##bits(address, expected, value);                                                \
  }                                                                                                \
  COMPARE(bits, strong)                                                                            \
  COMPARE(bits, weak)

#define UPDATE(bits, name, new)                                                                    \
  uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *address, uint##bits##_t value,       \
                                              int order);                                          \
  uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *address, uint##bits##_t value,       \
                                              int order) {                                         \
    (void)order;                                                                                   \
    at(HERE);                                                                                      \
    begin_update();                                                                                \
    update(address, false);                                                                        \
    const uint##bits##_t old = *address;                                                           \
    *address = new;                                                                                \
    return old;                                                                                    \
  }

/* A weak one never fails for no reason here. */
#define COMPARE(bits, kind)                                                                        \
  int __tsan_atomic##bits##_compare_exchange_##kind(uint##bits##_t *address,                       \
                                                    uint##bits##_t *expected,                      \
                                                    uint##bits##_t value, int order, int failure); \
  int __tsan_atomic##bits##_compare_exchange_##kind(                                               \
      uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t value, int order,          \
      int failure) {                                                                               \
    (void)order, (void)failure;                                                                    \
    at(HERE);                                                                                      \
    const uint##bits##_t found = compare##bits(address, *expected, value);                         \
    const bool equal = found == *expected;                                                         \
    *expected = found;                                                                             \
    return equal;                                                                                  \
  }

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* Of base/atomic.h: one instruction that is not atomic, but no other thread's turn comes in it. */
uint32_t sim_owner_decrement(uint32_t *word) {
  at(HERE);
  atomic_store(word, RELEASE);
  return --*word;
}

bool sim_owner_cas(uint32_t *word, uint32_t expected, uint32_t value) {
  at(HERE);
  atomic_store(word, RELEASE);
  if (*word != expected)
    return false;
  *word = value;
  return true;
}

/* --- arch.h ---------------------------------------------------------------------------------- */

void sim_wait_turns(uint32_t turns) { sim_work(turns * machine->turn); }

uint64_t sim_clock(void) {
  if (!sim_current)
    return 0;
  sim_loop_acts();
  sim_work(machine->instruction);
  return sim_current->clock;
}

uint64_t sim_cycles_per_millisecond(void) { return machine ? machine->mhz * 1000 : 1; }

uint32_t sim_processor_here(void) { return sim_current ? sim_current->processor : 0; }
