/* SPDX-License-Identifier: MIT
 *
 * Broadcasts from the first core to all, through message-passing buffers (buffers.h): OC-Bcast of
 * Petrovic's thesis (2016), section 3.1, with trees of 2, 7 and 47 children, and what it was
 * compared with, the binomial and the scatter-allgather broadcast of RCCE_comm, section 3.3.2.
 */
#ifndef RELOCK_SIM_LOAD_BROADCAST_H
#define RELOCK_SIM_LOAD_BROADCAST_H

#include "load.h"
#include "machine.h"

enum { SIM_MAX_BROADCAST = 64 }; /* cores */

/* With blanks between them. */
extern const char sim_broadcast_names[];

/* The first thread of the machine, whose argument is a struct sim_load: `threads` cores, messages
 * of `lines` lines. With a `delay` all begin together, so long after the last one has returned;
 * without one, broadcasts follow each other. */
void *sim_broadcast_run(void *load);

/* After sim_run(); a latency is from the first core's call to the last one's return. False: a core
 * has had another chunk than was sent. */
bool sim_broadcast_count(struct sim_counts *counts);

#endif
