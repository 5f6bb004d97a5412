/* SPDX-License-Identifier: MIT
 *
 * Where the cycles of a point go: of each place in the code that accesses memory, how often it had
 * to wait for a line, and how long.
 */
#ifndef RELOCK_SIM_EXPLAIN_H
#define RELOCK_SIM_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

/* An address in the simulator's own code. */
struct sim_place {
  uintptr_t
      address;     /* of the instruction behind the access, from the start of the program's image */
  uint64_t misses; /* accesses for which the core had not all that it takes */
  uint64_t cycles; /* of them, until its thread could go on */
};

/* Whether places are counted from now on. */
void sim_explain(bool places);

/* An access at this place has missed, and its thread waited so long. */
void sim_place_missed(const void *place, uint64_t cycles);

/* The places where most was waited, the dearest first, up to `most`: how many. */
unsigned sim_places(struct sim_place *places, unsigned most);

#endif
