/* SPDX-License-Identifier: MIT
 *
 * The runtime's channels on a simulated machine. A channel of a receiver that stays on its
 * processor (sim_channel_open_own()) is a queue of that processor's, if it has one left; all
 * others are in memory, and cost what that costs.
 *
 * A message is a header, which has the tag, and words of 8 bytes. Its sender's instructions put
 * them into the network one by one, and then it goes on; a message is on its way for a fixed time
 * and for each hop. Messages of one sender stay in order, and a queue's receiver takes them in the
 * order of their arrival. It does nothing until there is one, and takes a word at a time. All
 * queues of a core share one buffer: a sender that finds it full does nothing until there is room.
 *
 * The words in the network count for the buffer of their receiver: there the model has senders wait
 * earlier than the hardware, whose network holds some more. Links have no bandwidth.
 */
#include "queues.h"

#include "memory_channel.h"
#include "processors.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8 };

/* In a channel that is a queue, `place` is this, which is no slot's, and `taken` the queue. */
#define IS_QUEUE UINT32_MAX
enum { OPEN = 1 }; /* in `tail` */

struct message {
  uint64_t arrival, words;
  uint32_t tag;
  unsigned char bytes[RELOCK_MESSAGE_SIZE];
};

struct queue {
  struct relock_slot next; /* for the receiver, who has it in registers */
  unsigned core;
  struct message *messages; /* a ring, with room for as many as the buffer has words */
  uint64_t first, count;
  uint64_t last_arrival;
  struct sim_line arrived; /* for the receiver that stalls */
};

static const struct sim_machine *machine;

/* Of a core: what its queues hold together, and how many there are. */
static struct buffer {
  uint64_t words;
  unsigned queues;
  struct sim_line left; /* for senders that stall */
} *buffers;

static void *allocate(size_t count, size_t size) {
  void *memory = aligned_alloc(RELOCK_CACHE_LINE, (count * size + RELOCK_CACHE_LINE - 1) /
                                                      RELOCK_CACHE_LINE * RELOCK_CACHE_LINE);
  if (!memory) {
    fprintf(stderr, "relock-simulator: no memory for queues of messages\n");
    exit(2);
  }
  return memset(memory, 0, count * size);
}

void sim_queues_start(const struct sim_machine *simulated) {
  machine = simulated;
  if (machine->queue_words)
    buffers = allocate(sim_cores(machine), sizeof *buffers);
}

static struct queue *queue_of(const struct relock_channel *channel) {
  return channel->place == (uint32_t)IS_QUEUE ? (struct queue *)(uintptr_t)channel->taken : NULL;
}

/* --- senders --------------------------------------------------------------------------------- */

static struct message *new_message(struct queue *queue) {
  return &queue->messages[(queue->first + queue->count++) % machine->queue_words];
}

static unsigned hops_to(const struct queue *queue) {
  const unsigned from = sim_node_of_core(machine, sim_current_core(machine));
  return machine->hops[from][sim_node_of_core(machine, queue->core)];
}

static int send(struct queue *queue, uint32_t tag, const void *bytes, size_t size) {
  if (size == 0)
    return EINVAL;
  if (size > RELOCK_MESSAGE_SIZE)
    return EMSGSIZE;
  const uint64_t words = (size + WORD - 1) / WORD;
  struct buffer *buffer = &buffers[queue->core];
  sim_loop_acts();
  sim_work(machine->message + words * machine->sent_word);
  sim_turn();
  while (buffer->words + words > machine->queue_words) {
    sim_stall(&buffer->left);
    sim_turn();
  }
  buffer->words += words;
  uint64_t arrival =
      sim_current->clock + machine->message_way + hops_to(queue) * machine->message_hop;
  if (arrival < queue->last_arrival + words) /* words come one by one */
    arrival = queue->last_arrival + words;
  queue->last_arrival = arrival;
  struct message *message = new_message(queue);
  message->arrival = arrival;
  message->words = words;
  message->tag = tag;
  memcpy(message->bytes, bytes, size);
  sim_line_lost(&queue->arrived, arrival);
  return 0;
}

int relock_channel_send(struct relock_channel *channel, uint32_t capacity, uint32_t tag,
                        const void *bytes, size_t size) {
  struct queue *queue = queue_of(channel);
  return queue ? send(queue, tag, bytes, size)
               : memory_channel_send(channel, capacity, tag, bytes, size);
}

bool relock_channel_is_full(const struct relock_channel *channel, uint32_t capacity) {
  const struct queue *queue = queue_of(channel);
  return queue ? buffers[queue->core].words + RELOCK_MESSAGE_SIZE / WORD > machine->queue_words
               : memory_channel_is_full(channel, capacity);
}

/* --- the receiver ---------------------------------------------------------------------------- */

bool relock_channel_open(struct relock_channel *channel, uint32_t capacity) {
  return memory_channel_open(channel, capacity);
}

static bool has_queue_left(void) {
  return machine->queue_words && sim_current && sim_current->bound >= 0 &&
         buffers[sim_current_core(machine)].queues < machine->queues;
}

bool sim_channel_open_own(struct relock_channel *channel, uint32_t capacity) {
  if (!has_queue_left())
    return memory_channel_open(channel, capacity);
  if (channel->tail & OPEN)
    return false;
  struct queue *queue = allocate(1, sizeof *queue);
  queue->core = sim_current_core(machine);
  queue->messages = allocate(machine->queue_words, sizeof *queue->messages);
  buffers[queue->core].queues++;
  channel->tail |= OPEN;
  channel->place = IS_QUEUE;
  channel->taken = (uintptr_t)queue;
  return true;
}

static bool close(struct relock_channel *channel, struct queue *queue) {
  sim_turn();
  if (queue->count > 0)
    return false;
  buffers[queue->core].queues--;
  free(queue->messages);
  free(queue);
  channel->tail -= OPEN; /* no ticket was drawn */
  channel->taken = channel->tail / 2;
  channel->place = 0;
  return true;
}

bool relock_channel_close(struct relock_channel *channel) {
  struct queue *queue = queue_of(channel);
  return queue ? close(channel, queue) : memory_channel_close(channel);
}

/* The next message if it has arrived. */
static const struct relock_slot *look(struct queue *queue) {
  sim_loop_acts();
  sim_work(machine->instruction);
  sim_turn();
  const struct message *message = &queue->messages[queue->first];
  if (queue->count == 0 || message->arrival > sim_current->clock)
    return NULL;
  queue->next.tag = message->tag;
  memcpy(queue->next.bytes, message->bytes, sizeof message->bytes);
  return &queue->next;
}

const struct relock_slot *relock_channel_look(struct relock_channel *channel, uint32_t capacity) {
  struct queue *queue = queue_of(channel);
  return queue ? look(queue) : memory_channel_look(channel, capacity);
}

/* The processor does nothing meanwhile. */
static const struct relock_slot *await(struct queue *queue) {
  sim_turn();
  for (;;) {
    const struct message *message = &queue->messages[queue->first];
    if (queue->count == 0)
      sim_stall(&queue->arrived);
    else if (message->arrival > sim_current->clock)
      sim_current->clock = message->arrival;
    else
      return look(queue);
    sim_turn();
  }
}

int relock_channel_receive(struct relock_channel *channel, uint32_t capacity,
                           const struct relock_slot **message) {
  struct queue *queue = queue_of(channel);
  if (!queue)
    return memory_channel_receive(channel, capacity, message);
  *message = await(queue);
  return 0;
}

static void take(struct queue *queue) {
  const uint64_t words = queue->messages[queue->first].words;
  sim_loop_acts();
  sim_work(words * machine->received_word);
  queue->first = (queue->first + 1) % machine->queue_words;
  queue->count--;
  struct buffer *buffer = &buffers[queue->core];
  buffer->words -= words;
  sim_line_lost(&buffer->left, sim_current->clock);
}

void relock_channel_received(struct relock_channel *channel, uint32_t capacity) {
  struct queue *queue = queue_of(channel);
  if (queue)
    take(queue);
  else
    memory_channel_received(channel, capacity);
}
