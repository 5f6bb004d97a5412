/* SPDX-License-Identifier: MIT
 *
 * Queues of messages in the hardware of a simulated machine, as TILE-Gx has them.
 */
#ifndef RELOCK_SIM_QUEUES_H
#define RELOCK_SIM_QUEUES_H

#include "machine.h"

#include <stdbool.h>
#include <stdint.h>

struct relock_channel;

void sim_queues_start(const struct sim_machine *machine);

/* Opens a channel as relock_channel_open() does, by a thread that does not leave its processor and
 * stays the receiver until it closes the channel: where the processor has a queue left, it is that.
 */
bool sim_channel_open_own(struct relock_channel *channel, uint32_t capacity);

#endif
