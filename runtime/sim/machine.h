/* SPDX-License-Identifier: MIT
 *
 * A simulated machine: what its file says. machines/ has such files; README.md says what each
 * parameter means for the simulation. Times are in cycles of the machine's processors.
 */
#ifndef RELOCK_SIM_MACHINE_H
#define RELOCK_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_NODES = 64, SIM_MAX_CORES = 1024, SIM_MAX_PROCESSORS = 2048, SIM_MAX_HOPS = 10 };

struct sim_machine {
  char name[64];
  char title[128]; /* for people */
  /* Processors are what runs a thread: threads_per_core of them share a core and its cache. Numbers
   * go through a node's cores first, and through their second threads after all cores. */
  uint64_t nodes, cores_per_node, threads_per_core;
  uint64_t mhz;
  uint8_t hops[SIM_MAX_NODES][SIM_MAX_NODES];
  uint64_t max_hops;
  uint64_t mesh_columns; /* nodes are numbered row by row, and hops are counted so; 0: by `hops` */

  /* A line comes from the cache of a core so many hops away. */
  uint64_t transfer[SIM_MAX_HOPS + 1];
  uint64_t memory[SIM_MAX_HOPS + 1]; /* the same from memory */
  uint64_t hit;                      /* in the own cache */
  uint64_t invalidate; /* for each copy that has to go, beside the farthest one's way */
  /* Of a transfer's time, how much passes before the next one of that line can begin, in percent:
   * for those that move it, and for those that leave a copy. */
  uint64_t write_occupancy, read_occupancy;
  uint64_t home;          /* before the next request to the same node's directory */
  bool hashed_homes;      /* each line has another home; else pages have */
  bool writes_at_home;    /* lines are not moved to whoever writes: writes go to their homes */
  bool owner_keeps;       /* MOESI: a dirty line is shared without going to memory first */
  bool total_store_order; /* stores become visible in their order */
  uint64_t store_buffer;  /* entries */
  uint64_t atomic;        /* a read-modify-write operation beside its access */
  uint64_t instruction;   /* what an access to memory stands for beside itself */
  uint64_t pause;
  uint64_t turn;       /* of an empty loop */
  uint64_t throughput; /* of a core with all its threads, in percent of what one alone has */

  /* Queues of messages in hardware: words that a core's hold together (0: it has none), how many
   * queues it has; what a message takes its sender, and its words; the receiver's each word; the
   * way, and each hop of it. */
  uint64_t queue_words, queues;
  uint64_t message, sent_word, received_word, message_way, message_hop;

  bool coherent; /* no: there are no shared lines, and only what uses the buffers runs */
  /* Buffers on the chip (buffers.h), in ns: a line of one, beside its way; a hop; how long the port
   * is taken by it. A line of private memory; and what each put and get takes besides. */
  uint64_t buffer_lines, buffer_access, buffer_hop, buffer_port;
  uint64_t memory_read, memory_write, put, get, put_memory, get_memory;

  /* The system: a call; to change threads; for each processor that a barrier interrupts. */
  uint64_t system_call, context_switch, interrupt;
  /* What a call takes for each thread that it wakes, and until that has a processor that was idle;
   * the early ones are of a processor that has not been idle for so long as a doze. */
  uint64_t waking, wake_up, early_waking, early_wake_up, doze;
  uint64_t clock_read;
  uint64_t slice; /* before another thread has its turn */
};

/* Reads a machine's file. False: it says why on standard error, with line and column. */
bool sim_machine_read(const char *file, struct sim_machine *machine);

/* Leaves it so many processors, if it has more: the threads of cores go first, then whole nodes,
 * then cores of each node. One more, where nodes would not have the same number. */
void sim_machine_restrict(struct sim_machine *machine, unsigned processors);

static inline unsigned sim_cores(const struct sim_machine *machine) {
  return (unsigned)(machine->nodes * machine->cores_per_node);
}
static inline unsigned sim_processors(const struct sim_machine *machine) {
  return sim_cores(machine) * (unsigned)machine->threads_per_core;
}
static inline unsigned sim_core_of(const struct sim_machine *machine, unsigned processor) {
  return processor % sim_cores(machine);
}
static inline unsigned sim_node_of_core(const struct sim_machine *machine, unsigned core) {
  return core / (unsigned)machine->cores_per_node;
}
static inline uint64_t sim_ns(const struct sim_machine *machine, uint64_t cycles) {
  return (uint64_t)((unsigned __int128)cycles * 1000 / machine->mhz);
}
static inline uint64_t sim_cycles(const struct sim_machine *machine, uint64_t ns) {
  return (uint64_t)((unsigned __int128)ns * machine->mhz / 1000);
}

#endif
