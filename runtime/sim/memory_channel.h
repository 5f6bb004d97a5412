/* SPDX-License-Identifier: MIT
 *
 * The runtime's own channels, which are in memory, by other names: those that the runtime calls are
 * in queues.c. The functions are those of channels/channel.h.
 */
#ifndef RELOCK_SIM_MEMORY_CHANNEL_H
#define RELOCK_SIM_MEMORY_CHANNEL_H

#include "../channels/channel.h"

int memory_channel_send(struct relock_channel *channel, uint32_t capacity, uint32_t tag,
                        const void *bytes, size_t size);
bool memory_channel_is_full(const struct relock_channel *channel, uint32_t capacity);
bool memory_channel_open(struct relock_channel *channel, uint32_t capacity);
bool memory_channel_close(struct relock_channel *channel);
const struct relock_slot *memory_channel_look(struct relock_channel *channel, uint32_t capacity);
int memory_channel_receive(struct relock_channel *channel, uint32_t capacity,
                           const struct relock_slot **message);
void memory_channel_received(struct relock_channel *channel, uint32_t capacity);

#endif
