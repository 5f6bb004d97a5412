/* SPDX-License-Identifier: MIT
 *
 * The caches of a simulated machine: where the copies of each line are, and how long an access
 * takes. Times are clocks of the machine, in cycles.
 */
#ifndef RELOCK_SIM_COHERENCE_H
#define RELOCK_SIM_COHERENCE_H

#include "machine.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIM_LINE_SIZE = 64 };

struct sim_watch; /* somebody who waits until a line is lost, see processors.c */

struct sim_line {
  uintptr_t address; /* / SIM_LINE_SIZE */
  uint64_t free_at;  /* when the next transfer of it can begin */
  uint64_t *copies;  /* a bit for each core */
  int32_t owner;     /* the core that answers for it; -1: memory does */
  uint16_t home;     /* the node */
  bool exclusive;    /* the owner has the only copy */
  uint8_t writes;    /* so far: one by a thread of the same core takes nobody's copy away */
  struct sim_watch *watches;
};

/* What one core has had from its accesses. */
struct sim_traffic {
  uint64_t accesses, hits, memory;
  uint64_t transfers[SIM_MAX_HOPS + 1]; /* from another cache, by hops */
  uint64_t invalidations;               /* of others' copies */
  uint64_t transferring, queueing;      /* cycles */
};
extern struct sim_traffic sim_traffic[SIM_MAX_CORES];

void sim_coherence_start(const struct sim_machine *machine);

/* The line that has this address. A page is at home on the node that touches it first. */
struct sim_line *sim_line_of(uintptr_t address, unsigned core);

/* A core reads a line, or gets it for itself to write to it. They return when that is done, and
 * say whether the core had all that it takes. */
uint64_t sim_read(struct sim_line *line, unsigned core, uint64_t now, bool *hit);
uint64_t sim_write(struct sim_line *line, unsigned core, uint64_t now, bool *hit);
/* The same for an atomic operation. */
uint64_t sim_update(struct sim_line *line, unsigned core, uint64_t now, bool *hit);

bool sim_has_copy(const struct sim_line *line, unsigned core);
static inline bool sim_has_alone(const struct sim_line *line, unsigned core) {
  return line->exclusive && line->owner == (int32_t)core;
}

/* processors.c: whether it is on the current thread's stack. */
bool sim_is_on_stack(uintptr_t address);

/* processors.c: whoever watches the line can see at this time that it has changed. */
void sim_line_lost(struct sim_line *line, uint64_t now);

#endif
