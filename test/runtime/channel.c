/* SPDX-License-Identifier: MIT
 *
 * Channels (runtime/channels/): wrong uses, order, back-pressure, and threads that send and receive
 * in turns.
 */
#include "../../runtime/channels/channel.h"
#include "check.h"

#include <errno.h>
#include <string.h>

const char *check_case;

enum { MOST_SLOTS = 61, THREADS = 32, MESSAGES = 10000 };

static struct {
  struct relock_channel channel;
  struct relock_slot slots[MOST_SLOTS];
} memory;
static struct relock_channel *const channel = &memory.channel;

static void begin(const char *name) {
  check_case = name;
  memset(&memory, 0, sizeof memory);
}

static int send_number(uint32_t capacity, uint32_t number) {
  return relock_channel_send(channel, capacity, number, &number, sizeof number);
}

static uint32_t receive_number(uint32_t capacity) {
  const struct relock_slot *message;
  uint32_t number;
  CHECK_EQUAL(relock_channel_receive(channel, capacity, &message), 0);
  memcpy(&number, message->bytes, sizeof number);
  CHECK_EQUAL(message->tag, number);
  relock_channel_received(channel, capacity);
  return number;
}

static void wrong_uses(void) {
  begin("wrong_uses");
  const struct relock_slot *message;
  const char bytes[RELOCK_MESSAGE_SIZE + 1] = {1};
  CHECK_EQUAL(send_number(4, 1), EPIPE);
  CHECK_EQUAL(relock_channel_receive(channel, 4, &message), EPIPE);
  CHECK(!relock_channel_open(channel, 0));
  CHECK(!relock_channel_open(channel, RELOCK_CHANNEL_CAPACITY + 1));
  CHECK(relock_channel_open(channel, 4));
  CHECK(!relock_channel_open(channel, 4));
  CHECK_EQUAL(send_number(0, 1), EINVAL);
  CHECK_EQUAL(send_number(RELOCK_CHANNEL_CAPACITY + 1, 1), EINVAL);
  CHECK_EQUAL(relock_channel_send(channel, 4, 0, bytes, 0), EINVAL);
  CHECK_EQUAL(relock_channel_send(channel, 4, 0, bytes, sizeof bytes), EMSGSIZE);
  CHECK_EQUAL(relock_channel_receive(channel, 0, &message), EINVAL);
  CHECK(relock_channel_look(channel, 0) == NULL);
  CHECK(relock_channel_look(channel, 4) == NULL); /* none of these has sent anything */
  CHECK_EQUAL(relock_channel_send(channel, 4, 7, bytes, RELOCK_MESSAGE_SIZE), 0);
  CHECK(!relock_channel_close(channel));
  CHECK_EQUAL(relock_channel_receive(channel, 4, &message), 0);
  CHECK_EQUAL(message->tag, 7);
  CHECK(memcmp(message->bytes, bytes, RELOCK_MESSAGE_SIZE) == 0);
  CHECK(!relock_channel_close(channel));
  relock_channel_received(channel, 4);
  CHECK(relock_channel_close(channel));
  CHECK_EQUAL(send_number(4, 1), EPIPE);
}

/* Also behind tickets that were drawn in vain, and round and round. */
static void keeps_order(void) {
  static const uint32_t capacities[] = {1, 2, 3, 60, MOST_SLOTS};
  for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; i++) {
    const uint32_t capacity = capacities[i];
    begin("keeps_order");
    for (uint32_t round = 0; round < 200; round++) {
      for (uint32_t vain = 0; vain < round % 5; vain++)
        CHECK_EQUAL(send_number(capacity, 0), EPIPE);
      CHECK(relock_channel_open(channel, capacity));
      for (uint32_t number = 1; number <= capacity; number++)
        CHECK_EQUAL(send_number(capacity, number), 0);
      for (uint32_t number = 1; number <= capacity; number++)
        CHECK_EQUAL(receive_number(capacity), number);
      CHECK(relock_channel_close(channel));
    }
  }
}

static bool all_sent;

static void *send_three(void *unused) {
  for (uint32_t number = 1; number <= 3; number++)
    CHECK_EQUAL(send_number(2, number), 0);
  __atomic_store_n(&all_sent, true, __ATOMIC_RELEASE);
  return unused;
}

static void *receive_three(void *unused) {
  for (uint32_t number = 1; number <= 3; number++)
    CHECK_EQUAL(receive_number(2), number);
  return unused;
}

/* Who finds no room, or no message, waits, asleep. */
static void waits(void) {
  begin("waits");
  pthread_t other;
  CHECK(relock_channel_open(channel, 2));
  CHECK_EQUAL(pthread_create(&other, NULL, send_three, NULL), 0);
  usleep(50000);
  CHECK(!__atomic_load_n(&all_sent, __ATOMIC_ACQUIRE));
  receive_three(NULL);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
  CHECK(all_sent);
  CHECK_EQUAL(pthread_create(&other, NULL, receive_three, NULL), 0);
  usleep(50000);
  send_three(NULL);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
  CHECK(relock_channel_close(channel));
}

/* --- many threads ---------------------------------------------------------------------------- */

static uint32_t capacity_now, messages_now;
static uint64_t last_of[THREADS]; /* the receiver's */
static uint64_t received_of[THREADS], receivers;

/* Each word of it says whose it is and which. */
struct report {
  uint64_t word[RELOCK_MESSAGE_SIZE / sizeof(uint64_t)];
};

static void receive_all(void) {
  while (!relock_channel_close(channel)) {
    const struct relock_slot *message;
    CHECK_EQUAL(relock_channel_receive(channel, capacity_now, &message), 0);
    struct report report;
    memcpy(&report, message->bytes, sizeof report);
    for (unsigned i = 1; i < sizeof report.word / sizeof *report.word; i++)
      CHECK_EQUAL(report.word[i], report.word[0]);
    const uint64_t sender = report.word[0] / MESSAGES, number = report.word[0] % MESSAGES;
    CHECK(sender < THREADS && message->tag == sender);
    CHECK(number + 1 > last_of[sender]);
    last_of[sender] = number + 1;
    received_of[sender]++;
    relock_channel_received(channel, capacity_now);
  }
}

/* Who finds the channel closed receives for a while. */
static void *send_and_receive(void *id) {
  const uint32_t self = (uint32_t)(uintptr_t)id;
  for (uint64_t number = 0; number < messages_now;) {
    struct report report;
    for (unsigned i = 0; i < sizeof report.word / sizeof *report.word; i++)
      report.word[i] = (uint64_t)self * MESSAGES + number;
    const int error = relock_channel_send(channel, capacity_now, self, &report, sizeof report);
    CHECK(error == 0 || error == EPIPE);
    if (error == 0) {
      number++;
    } else if (relock_channel_open(channel, capacity_now)) {
      receivers++;
      received_of[self]++; /* in place of a message to itself */
      last_of[self] = ++number;
      receive_all();
    }
  }
  return NULL;
}

static void torture(uint32_t capacity, int senders, uint32_t messages) {
  begin("torture");
  pthread_t threads[THREADS];
  capacity_now = capacity;
  messages_now = messages;
  memset(last_of, 0, sizeof last_of);
  memset(received_of, 0, sizeof received_of);
  receivers = 0;
  for (intptr_t i = 0; i < senders; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, send_and_receive, (void *)i), 0);
  for (int i = 0; i < senders; i++)
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < senders; i++)
    CHECK_EQUAL(received_of[i], messages);
  CHECK(receivers > 0);
}

int main(void) {
  alarm(300);
  wrong_uses();
  keeps_order();
  waits();
  torture(1, 4, 1000);
  torture(3, 8, 2000);
  torture(MOST_SLOTS, THREADS, MESSAGES);
  puts("channel: ok");
  return 0;
}
