/* SPDX-License-Identifier: MIT
 *
 * The C library's barrier, for threads of the simulated machine.
 */
#ifndef RELOCK_SIM_PTHREAD_BARRIER_H
#define RELOCK_SIM_PTHREAD_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

struct sim_pthread_barrier {
  uint32_t in, current_round, count, out;
};

/* True: the serial thread. */
bool sim_pthread_barrier_wait(struct sim_pthread_barrier *barrier);

#endif
