/* SPDX-License-Identifier: MIT */
#include "buffers.h"

#include "processors.h"

#include <stdio.h>
#include <stdlib.h>

static const struct sim_machine *machine;

static struct port {
  uint64_t free_at;
  struct sim_line flags; /* for a thread that waits for one of them */
} *ports;

void sim_buffers_start(const struct sim_machine *simulated) {
  machine = simulated;
  if (!machine->buffer_lines)
    return;
  ports = calloc(sim_cores(machine), sizeof *ports);
  if (!ports) {
    fprintf(stderr, "relock-simulator: no memory for message-passing buffers\n");
    exit(2);
  }
}

/* --- times ----------------------------------------------------------------------------------- */

/* Routers on the way: those of both tiles, too. */
static uint64_t distance(unsigned to) {
  const unsigned from = sim_node_of_core(machine, sim_current_core(machine));
  return 1u + machine->hops[from][sim_node_of_core(machine, to)];
}

static void pass(uint64_t ns) { sim_work(sim_cycles(machine, ns)); }

/* Ways are there and back, for a line that is read and for one that is written, whose
 * acknowledgement comes back. */
static uint64_t way(uint64_t routers) { return 2 * routers * machine->buffer_hop; }

/* The port of a core's buffer takes the line when it has done with those before. */
static void await_port(unsigned core) {
  struct port *port = &ports[core];
  sim_turn();
  const uint64_t now = sim_current->clock;
  const uint64_t start = port->free_at > now ? port->free_at : now;
  port->free_at = start + sim_cycles(machine, machine->buffer_port);
  sim_current->clock = start;
}

static void access(unsigned core) {
  await_port(core);
  pass(machine->buffer_access + way(distance(core)));
}

static unsigned own(void) { return sim_current_core(machine); }

/* The memory controller is taken to be at the core's own router. */
enum { TO_MEMORY = 1 };

/* --- puts and gets --------------------------------------------------------------------------- */

void sim_put(unsigned to, uint64_t lines) {
  pass(machine->put);
  for (uint64_t line = 0; line < lines; line++) {
    access(own());
    access(to);
  }
}

void sim_put_memory(unsigned to, uint64_t lines, bool cached) {
  pass(machine->put_memory);
  for (uint64_t line = 0; line < lines; line++) {
    if (!cached)
      pass(machine->memory_read + way(TO_MEMORY));
    access(to);
  }
}

void sim_get(unsigned from, uint64_t lines) {
  pass(machine->get);
  for (uint64_t line = 0; line < lines; line++) {
    access(from);
    access(own());
  }
}

void sim_get_memory(unsigned from, uint64_t lines) {
  pass(machine->get_memory);
  for (uint64_t line = 0; line < lines; line++) {
    access(from);
    pass(machine->memory_write + way(TO_MEMORY));
  }
}

/* --- flags ----------------------------------------------------------------------------------- */

/* The writer goes on when its acknowledgement has come back. */
void sim_store_flag(struct sim_flag *flag, uint64_t value) {
  const uint64_t back = distance(flag->core) * machine->buffer_hop;
  await_port(flag->core);
  pass(machine->buffer_access + back);
  sim_turn();
  flag->value = value;
  sim_line_lost(&ports[flag->core].flags, sim_current->clock);
  pass(back);
}

void sim_put_flag(struct sim_flag *flag, uint64_t value) {
  pass(machine->put);
  access(own());
  sim_store_flag(flag, value);
}

void sim_await_flag(const struct sim_flag *flag, uint64_t value) {
  sim_turn();
  while (flag->value < value) {
    sim_stall(&ports[flag->core].flags);
    sim_turn();
  }
  access(own());
}

void sim_reset_flag(void) { access(own()); }

void sim_meet(unsigned threads) {
  static struct sim_line all;
  static uint64_t arrived;
  sim_turn();
  const uint64_t wanted = arrived / threads * threads + threads;
  if (++arrived == wanted)
    sim_line_lost(&all, sim_current->clock);
  while (arrived < wanted)
    sim_stall(&all);
}
