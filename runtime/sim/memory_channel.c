/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 */
#define relock_channel_send memory_channel_send
#define relock_channel_is_full memory_channel_is_full
#define relock_channel_open memory_channel_open
#define relock_channel_close memory_channel_close
#define relock_channel_look memory_channel_look
#define relock_channel_receive memory_channel_receive
#define relock_channel_received memory_channel_received
#include "../channels/channel.c"
