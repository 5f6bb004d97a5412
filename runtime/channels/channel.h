/* SPDX-License-Identifier: MIT
 *
 * A channel: a bounded queue of messages between threads, with any number of senders and one
 * receiver at a time, in memory that they share. On such queues, there of the processor's own,
 * Petrovic, Ropars and Schiper build locks, "Leveraging hardware message passing for efficient
 * thread synchronization" (2014); here a message is a cache line.
 *
 * A sender gets a ticket by one fetch-and-add; the ticket's slot is the sender's alone until it has
 * published the whole message there. So messages never mix, and are received in the order of the
 * tickets. In a slot `sent` says which ticket's message it holds. The receiver writes to no slot,
 * but that it sleeps on it: it tells how far it is now and then, for senders that wait for room, in
 * `released`. Both are futexes.
 *
 * A channel is closed while it has no receiver. Whoever opens it is the receiver, until it closes
 * it or passes that on to another thread, by means of its own.
 *
 *                opened: the opener receives           a sender: one ticket more
 *   CLOSED <--------------------------------> OPEN ----------------------------.
 *            closed, by the receiver, while     ^                               |
 *            no ticket is without its message   '-------------------------------'
 *            and every message was received
 *
 *   slot:  room for ticket t ---> sent == t + 1 ---> received, room for ticket t + capacity
 *
 * Invariants
 *  - Tickets only grow. One that a sender drew in vain, from a channel that was closed meanwhile,
 *    is nobody's: the next receiver begins behind it.
 *  - Each message is received once, and a receiver closes only a channel in which nobody has begun
 *    to send: no message is left behind.
 *  - A sender writes to a slot after the message before was received there: it has read a
 *    `released` that says so.
 *  - No sleeper is forgotten: it sets ASLEEP in the word that it waits for by a compare-and-swap,
 *    and each change of the word is an exchange, which sees that. Who waits has not had its message
 *    received, or is the receiver.
 *  - After it has published its message a sender uses addresses only: the channel may be gone.
 *
 * Back-pressure: a sender for whose ticket there is no room waits, in the order of the tickets.
 * All that sleep so wake up when there is room for some, so they should not be many. The receiver
 * tells what it has received when that is a quarter of the capacity, and whenever it finds no
 * message. A sender that is preempted between its ticket and its message delays those behind it.
 *
 * Zero-filled memory is a channel that is closed. The capacity is the same in all calls.
 */
#ifndef RELOCK_CHANNELS_CHANNEL_H
#define RELOCK_CHANNELS_CHANNEL_H

#include "../base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  RELOCK_MESSAGE_SIZE = 56, /* bytes of a message, at most, beside its tag */
  RELOCK_CHANNEL_CAPACITY = 1 << 20
};

struct relock_slot {
  _Alignas(RELOCK_CACHE_LINE) uint32_t sent;
  uint32_t tag;
  unsigned char bytes[RELOCK_MESSAGE_SIZE];
};
_Static_assert(sizeof(struct relock_slot) == RELOCK_CACHE_LINE, "one line per message");

/* Its slots, as many as its capacity, are right behind it. */
struct relock_channel {
  _Alignas(RELOCK_CACHE_LINE) uint64_t tail; /* the next ticket, twice; and whether it is open */
  _Alignas(RELOCK_CACHE_LINE) uint32_t released; /* tickets before this have been received */
  /* The receiver's. */
  _Alignas(RELOCK_CACHE_LINE) uint64_t taken; /* the ticket that it receives next */
  uint64_t told;                              /* what `released` says */
  uint32_t place;                             /* the slot of `taken` */
};

/* Error numbers of these functions:
 *   EINVAL    the capacity is 0, or more than RELOCK_CHANNEL_CAPACITY; the message has no bytes
 *   EMSGSIZE  the message is longer than RELOCK_MESSAGE_SIZE
 *   EPIPE     the channel is closed */

/* Sends a message; waits while the channel is full. */
int relock_channel_send(struct relock_channel *channel, uint32_t capacity, uint32_t tag,
                        const void *bytes, size_t size);

/* Whether a message that is sent now has to wait for room. A hint. */
bool relock_channel_is_full(const struct relock_channel *channel, uint32_t capacity);

/* Opens a channel that is closed. True: the caller is the receiver. */
bool relock_channel_open(struct relock_channel *channel, uint32_t capacity);

/* By the receiver. True: it is not that any more. False: somebody has sent, or is about to. */
bool relock_channel_close(struct relock_channel *channel);

/* The next message, or null if it has not been sent; it stays until relock_channel_received(). By
 * the receiver. */
const struct relock_slot *relock_channel_look(struct relock_channel *channel, uint32_t capacity);

/* The same, but waits for the message. */
int relock_channel_receive(struct relock_channel *channel, uint32_t capacity,
                           const struct relock_slot **message);

/* The receiver does not need the message any more at which it has looked. */
void relock_channel_received(struct relock_channel *channel, uint32_t capacity);

#endif
