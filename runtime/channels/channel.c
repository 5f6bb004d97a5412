/* SPDX-License-Identifier: MIT
 *
 * Channels. See channel.h for the states and invariants.
 */
#include "channel.h"

#include "../base/os.h"
#include "../base/wait.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

enum { OPEN = 1, TICKET = 2 }; /* of `tail` */

/* Of `sent` and `released`: somebody sleeps on the word. The rest is the lower bits of a ticket. */
#define ASLEEP ((uint32_t)1 << 31)
#define COUNTED (ASLEEP - 1)

enum { TELL_PART = 4 };

static struct relock_slot *slot_at(struct relock_channel *channel, uint32_t place) {
  return (struct relock_slot *)(channel + 1) + place;
}

static bool is_capacity(uint32_t capacity) {
  return capacity > 0 && capacity <= RELOCK_CHANNEL_CAPACITY;
}

/* Sleeps, after a while, until the word may have changed. */
static void await_change(uint32_t *word, uint32_t found, struct relock_wait *wait) {
  if (relock_wait_again(wait))
    return;
  if (found & ASLEEP || relock_cas_relaxed(word, found, found | ASLEEP))
    relock_wait_park(wait, word, found | ASLEEP, CLOCK_MONOTONIC, NULL);
}

/* Release: pairs with the acquires of those who wait for it, in await_room() and
 * relock_channel_look(). */
static void change(uint32_t *word, uint32_t value) {
  if (RELOCK_UNLIKELY(relock_exchange_release(word, value) & ASLEEP))
    relock_os->futex_wake(word, INT_MAX);
}

/* --- senders --------------------------------------------------------------------------------- */

static bool has_room(uint32_t released, uint64_t ticket, uint32_t capacity) {
  return (((uint32_t)ticket - released) & COUNTED) < capacity;
}

bool relock_channel_is_full(const struct relock_channel *channel, uint32_t capacity) {
  return !has_room(relock_load_relaxed(&channel->released),
                   relock_load_relaxed(&channel->tail) / TICKET, capacity);
}

static void await_room(struct relock_channel *channel, uint32_t capacity, uint64_t ticket) {
  struct relock_wait wait;
  bool waits = false;
  for (;;) {
    /* Acquire: pairs with the release in tell(). What was in the slot has been read. */
    uint32_t released = relock_load_acquire(&channel->released);
    if (RELOCK_LIKELY(has_room(released, ticket, capacity)))
      return;
    if (!waits)
      relock_wait_begin(&wait, NULL, NULL);
    waits = true;
    await_change(&channel->released, released, &wait);
  }
}

int relock_channel_send(struct relock_channel *channel, uint32_t capacity, uint32_t tag,
                        const void *bytes, size_t size) {
  if (!is_capacity(capacity) || size == 0)
    return EINVAL;
  if (size > RELOCK_MESSAGE_SIZE)
    return EMSGSIZE;
  /* Without a look before it: that would bring the line twice. */
  const uint64_t tail = relock_add_relaxed(&channel->tail, TICKET);
  if (RELOCK_UNLIKELY(!(tail & OPEN)))
    return EPIPE;
  const uint64_t ticket = tail / TICKET;
  await_room(channel, capacity, ticket);
  struct relock_slot *slot = slot_at(channel, (uint32_t)(ticket % capacity));
  slot->tag = tag;
  memcpy(slot->bytes, bytes, size);
  change(&slot->sent, (uint32_t)(ticket + 1) & COUNTED);
  return 0;
}

/* --- the receiver ---------------------------------------------------------------------------- */

static void tell(struct relock_channel *channel) {
  if (channel->told == channel->taken)
    return;
  channel->told = channel->taken;
  change(&channel->released, (uint32_t)channel->taken & COUNTED);
}

bool relock_channel_open(struct relock_channel *channel, uint32_t capacity) {
  if (!is_capacity(capacity))
    return false;
  /* Tries again when others have drawn tickets in vain meanwhile: each does that once before it
   * comes here. */
  uint64_t tail;
  do {
    tail = relock_load_relaxed(&channel->tail);
    if (tail & OPEN)
      return false;
    /* Acquire: pairs with the release in relock_channel_close(), for what is the receiver's. */
  } while (!relock_cas_acquire(&channel->tail, tail, tail | OPEN));
  channel->taken = tail / TICKET;
  channel->place = (uint32_t)(channel->taken % capacity);
  tell(channel);
  return true;
}

bool relock_channel_close(struct relock_channel *channel) {
  const uint64_t all_received = channel->taken * TICKET;
  /* Release: pairs with the acquire in relock_channel_open(). */
  return relock_load_relaxed(&channel->tail) == (all_received | OPEN) &&
         relock_cas_release(&channel->tail, all_received | OPEN, all_received);
}

const struct relock_slot *relock_channel_look(struct relock_channel *channel, uint32_t capacity) {
  if (!is_capacity(capacity))
    return NULL;
  const struct relock_slot *slot = slot_at(channel, channel->place);
  /* Acquire: pairs with the release in relock_channel_send(), for the message. */
  if (RELOCK_LIKELY((relock_load_acquire(&slot->sent) & COUNTED) ==
                    ((uint32_t)(channel->taken + 1) & COUNTED)))
    return slot;
  tell(channel);
  return NULL;
}

int relock_channel_receive(struct relock_channel *channel, uint32_t capacity,
                           const struct relock_slot **message) {
  if (!is_capacity(capacity))
    return EINVAL;
  if (!(relock_load_relaxed(&channel->tail) & OPEN))
    return EPIPE;
  struct relock_wait wait;
  relock_wait_begin(&wait, NULL, NULL);
  uint32_t *sent = &slot_at(channel, channel->place)->sent;
  for (;;) {
    const uint32_t found = relock_load_relaxed(sent);
    *message = relock_channel_look(channel, capacity);
    if (*message)
      return 0;
    await_change(sent, found, &wait);
  }
}

void relock_channel_received(struct relock_channel *channel, uint32_t capacity) {
  channel->taken++;
  channel->place = channel->place + 1 == capacity ? 0 : channel->place + 1;
  __builtin_prefetch(slot_at(channel, channel->place)); /* probably the next message */
  if (channel->taken - channel->told >= capacity / TELL_PART)
    tell(channel);
}
