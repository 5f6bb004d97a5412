/* SPDX-License-Identifier: MIT
 *
 * Message-passing buffers: memory on the chip, a part for each core, that all cores read and write
 * by lines and that no cache holds, as the SCC has it. Times are those of Petrovic's model (2016,
 * section 4.1), with a port for each buffer that serves one line after the other.
 */
#ifndef RELOCK_SIM_BUFFERS_H
#define RELOCK_SIM_BUFFERS_H

#include "machine.h"

#include <stdbool.h>
#include <stdint.h>

/* A line of a core's buffer that says how far somebody is. It only grows. */
struct sim_flag {
  unsigned core;
  uint64_t value;
};

void sim_buffers_start(const struct sim_machine *machine);

/* By the current thread, on its core. Lines go from its own buffer, or its private memory, to a
 * core's buffer; `cached`: they were in its cache. */
void sim_put(unsigned to, uint64_t lines);
void sim_put_memory(unsigned to, uint64_t lines, bool cached);
/* From a core's buffer to its own, or to its private memory. */
void sim_get(unsigned from, uint64_t lines);
void sim_get_memory(unsigned from, uint64_t lines);

/* Puts the value into a flag; by one store, from a register, if that is enough. */
void sim_put_flag(struct sim_flag *flag, uint64_t value);
void sim_store_flag(struct sim_flag *flag, uint64_t value);
/* Until a flag of the own buffer has that value. */
void sim_await_flag(const struct sim_flag *flag, uint64_t value);
/* One store into the own buffer. */
void sim_reset_flag(void);

/* Costs nothing: until all of so many threads have come. */
void sim_meet(unsigned threads);

#endif
