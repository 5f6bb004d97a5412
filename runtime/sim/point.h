/* SPDX-License-Identifier: MIT
 *
 * What the points of a simulation have in common, those of the microbenchmark and those of a
 * program.
 */
#ifndef RELOCK_SIM_POINT_H
#define RELOCK_SIM_POINT_H

#include "buffers.h"
#include "coherence.h"
#include "entry.h"
#include "processors.h"
#include "queues.h"
#include "system.h"

/* No point takes ten minutes of the machine's time longer than what it is for: its threads will
 * never end. */
#define SIM_LIMIT_NS UINT64_C(600000000000)

/* Says so and exits with that status. */
void sim_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

static inline void sim_start(const struct sim_machine *machine) {
  sim_coherence_start(machine);
  sim_processors_start(machine);
  sim_entry_start(machine);
  sim_system_start(machine);
  sim_queues_start(machine);
  sim_buffers_start(machine);
}

#endif
