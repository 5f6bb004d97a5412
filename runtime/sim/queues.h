/* SPDX-License-Identifier: MIT
 *
 * Queues of messages in the hardware of a simulated machine, as TILE-Gx has them.
 */
#ifndef RELOCK_SIM_QUEUES_H
#define RELOCK_SIM_QUEUES_H

#include "machine.h"

void sim_queues_start(const struct sim_machine *machine);

#endif
