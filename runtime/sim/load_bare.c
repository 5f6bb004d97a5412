/* SPDX-License-Identifier: MIT
 *
 * This is code of the simulated machine: it is built like the runtime.
 *
 * Stores are relaxed where the thesis has no fence: what the simulated machine has in memory is
 * sequentially consistent, and the order costs what is asked for. With locks there is a fence
 * before each release, with combiners only where the combiner changes (section 6.2.2).
 */
#include "load_bare.h"

#include "../base/arch.h"
#include "../base/os.h"
#include "../channels/channel.h"
#include "buckets.h"
#include "entry.h"
#include "processors.h"
#include "queues.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

const char sim_bare_names[] = "mp-server shm-server hybcomb ccsynch hyblock mcs clh tas";

/* --- what all have --------------------------------------------------------------------------- */

/* Of a request, three words, as in the thesis. */
struct request {
  uint64_t sender, section, argument;
};
enum { REPLY = 1 };
/* In the place of a thread's number. */
#define NOBODY UINT64_MAX
#define ALLOW (UINT64_MAX - 1)

/* Each on a line of its own: most are read by many and written by few. */
struct number {
  _Alignas(LINE) uint64_t value;
};
struct flag {
  _Alignas(LINE) uint32_t value;
};

struct queue_node { /* MCS, CLH */
  _Alignas(LINE) struct queue_node *next;
  uint32_t waits;
};

struct combining_node { /* CC-Synch */
  _Alignas(LINE) struct combining_node *next;
  uint64_t section, result;
  uint32_t waits, completed;
};

struct combiner { /* HybComb */
  struct number thread_id, n_ops;
  struct flag combining_done;
};

struct slot { /* SHM-Server's */
  _Alignas(LINE) uint64_t section;
  uint32_t requested;
};

struct user {
  _Alignas(LINE) uint64_t operations;
  struct queue_node *node, *previous;
  struct combining_node *combining_node;
  struct combiner *combiner;
  struct slot slot;
};

/* Allocated, so that the addresses of other loads do not depend on it. */
static struct bare {
  const struct sim_load *load;
  void (*operate)(struct user *self);
  struct user *users;               /* one for each thread, and the server's */
  struct relock_channel **channels; /* theirs */
  uint32_t capacity;                /* of each channel */
  struct number line[SIM_MAX_LINES];
  struct flag arriving;
  struct flag held; /* TAS */
  _Alignas(LINE) struct queue_node *tail;
  _Alignas(LINE) struct combining_node *last;
  _Alignas(LINE) struct combiner *last_registered;
  _Alignas(LINE) struct combiner *departed;
  _Alignas(LINE) uint64_t owner; /* HybLock: who has asked last */
} *bare;

static void *allocate(size_t count, size_t size) {
  void *memory = aligned_alloc(LINE, (count * size + LINE - 1) / LINE * LINE);
  if (!memory)
    abort();
  return memset(memory, 0, count * size);
}

/* What does not change, a program that is built for one lock has in registers or in its text. */
static SIM_BOOKS uint64_t number_of(const struct user *user) {
  return (uint64_t)(user - bare->users);
}
static SIM_BOOKS unsigned lines(void) { return bare->load->lines; }
static SIM_BOOKS unsigned threads(void) { return bare->load->threads; }
static SIM_BOOKS uint64_t max_ops(void) { return bare->load->max_ops; }
static SIM_BOOKS uint32_t capacity(void) { return bare->capacity; }
static SIM_BOOKS struct relock_channel *channel_of(uint64_t number) {
  return bare->channels[number];
}
static SIM_BOOKS struct bare *lock(void) { return bare; }
static SIM_BOOKS struct slot *slot_of(unsigned number) { return &bare->users[number].slot; }

/* Each line's address comes from the one before it, see load.c. */
static inline void run_section(void) {
  struct number *line = lock()->line;
  uint64_t at = 0;
  for (unsigned i = 0, end = lines(); i < end; i++) {
    const uint64_t value = line[at].value;
    line[at].value = value + 1;
    at = i + 1 + (value >> 63);
  }
}

/* As many pauses as one loop may take. */
enum { PAUSES = 1 << 20 };

static inline void await_change(const uint32_t *word, uint32_t value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
    relock_pauses(PAUSES);
}

/* --- messages -------------------------------------------------------------------------------- */

static inline void send(uint64_t to, const void *words, size_t size) {
  if (relock_channel_send(channel_of(to), capacity(), 0, words, size) != 0)
    abort();
}

static inline void receive(struct user *self, void *words, size_t size) {
  const struct relock_slot *message;
  if (relock_channel_receive(channel_of(number_of(self)), capacity(), &message) != 0)
    abort();
  memcpy(words, message->bytes, size);
  relock_channel_received(channel_of(number_of(self)), capacity());
}

static inline bool has_message(struct user *self) {
  return relock_channel_look(channel_of(number_of(self)), capacity());
}

static inline void ask(struct user *self, uint64_t who) {
  const struct request request = {number_of(self), 1, 0};
  uint64_t reply;
  send(who, &request, sizeof request);
  receive(self, &reply, sizeof reply);
}

static inline void serve(struct user *self) {
  struct request request;
  const uint64_t reply = REPLY;
  receive(self, &request, sizeof request);
  run_section();
  send(request.sender, &reply, sizeof reply);
}

/* --- MP-Server ------------------------------------------------------------------------------- */

static void *mp_server(void *argument) {
  struct user *self = argument;
  sim_bare_join((unsigned)number_of(self));
  for (;;)
    serve(self);
  return NULL;
}

static void mp_server_operate(struct user *self) { ask(self, threads()); }

/* --- SHM-Server ------------------------------------------------------------------------------ */

static void *shm_server(void *argument) {
  sim_bare_join((unsigned)number_of(argument));
  for (;;) {
    bool served = false;
    for (unsigned i = 0; i < threads(); i++) {
      struct slot *slot = slot_of(i);
      if (!__atomic_load_n(&slot->requested, __ATOMIC_ACQUIRE))
        continue;
      if (slot->section)
        run_section();
      slot->section = 0; /* the result */
      __atomic_store_n(&slot->requested, 0, __ATOMIC_RELAXED);
      served = true;
    }
    if (!served)
      relock_pauses(PAUSES);
  }
  return NULL;
}

static void shm_server_operate(struct user *self) {
  self->slot.section = 1;
  __atomic_store_n(&self->slot.requested, 1, __ATOMIC_RELAXED);
  await_change(&self->slot.requested, 1);
}

/* --- HybComb --------------------------------------------------------------------------------- */

static uint64_t serve_all(struct user *self) {
  uint64_t done = 0;
  for (; has_message(self); done++)
    serve(self);
  return done;
}

static void combine(struct user *self) {
  const uint64_t most = max_ops();
  struct combiner *mine = self->combiner;
  run_section();
  uint64_t done = serve_all(self);
  const uint64_t registered = __atomic_exchange_n(&mine->n_ops.value, most, __ATOMIC_RELAXED);
  for (const uint64_t total = registered < most ? registered : most; done < total; done++)
    serve(self);
  sim_fence();
  self->combiner = lock()->departed;
  lock()->departed = mine;
  __atomic_store_n(&self->combiner->combining_done.value, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&self->combiner->thread_id.value, number_of(self), __ATOMIC_RELAXED);
  __atomic_store_n(&mine->combining_done.value, 1, __ATOMIC_RELEASE);
}

static void hybcomb_operate(struct user *self) {
  for (;;) {
    struct combiner *last = __atomic_load_n(&lock()->last_registered, __ATOMIC_ACQUIRE);
    if (__atomic_fetch_add(&last->n_ops.value, 1, __ATOMIC_RELAXED) < max_ops()) {
      ask(self, __atomic_load_n(&last->thread_id.value, __ATOMIC_RELAXED));
      return;
    }
    if (!__atomic_compare_exchange_n(&lock()->last_registered, &last, self->combiner, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&self->combiner->n_ops.value, 0, __ATOMIC_RELAXED);
    await_change(&last->combining_done.value, 0);
    combine(self);
    return;
  }
}

/* --- CC-Synch -------------------------------------------------------------------------------- */

static void ccsynch_operate(struct user *self) {
  struct combining_node *fresh = self->combining_node, *node;
  fresh->next = NULL;
  fresh->completed = 0;
  __atomic_store_n(&fresh->waits, 1, __ATOMIC_RELAXED);
  node = __atomic_exchange_n(&lock()->last, fresh, __ATOMIC_RELAXED);
  node->section = 1;
  __atomic_store_n(&node->next, fresh, __ATOMIC_RELAXED);
  self->combining_node = node;
  await_change(&node->waits, 1);
  if (node->completed)
    return;
  struct combining_node *next;
  for (uint64_t done = 0;
       (next = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE)) && done < max_ops(); done++) {
    if (node->section)
      run_section();
    node->result = REPLY;
    node->completed = 1;
    __atomic_store_n(&node->waits, 0, __ATOMIC_RELAXED);
    node = next;
  }
  sim_fence();
  __atomic_store_n(&node->waits, 0, __ATOMIC_RELAXED);
}

/* --- locks ----------------------------------------------------------------------------------- */

/* Whom the lock goes to, if that is known already. */
static inline uint64_t hyblock_acquire(struct user *self) {
  const uint64_t own = number_of(self);
  const uint64_t previous = __atomic_exchange_n(&lock()->owner, own, __ATOMIC_RELAXED);
  uint64_t word;
  if (previous == NOBODY)
    return NOBODY;
  send(previous, &own, sizeof own);
  receive(self, &word, sizeof word);
  if (word == ALLOW)
    return NOBODY;
  const uint64_t next = word;
  receive(self, &word, sizeof word);
  return next;
}

static inline void hyblock_release(struct user *self, uint64_t next) {
  const uint64_t allow = ALLOW;
  sim_fence();
  if (next == NOBODY) {
    uint64_t own = number_of(self);
    if (!has_message(self) && __atomic_compare_exchange_n(&lock()->owner, &own, NOBODY, false,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
    receive(self, &next, sizeof next);
  }
  send(next, &allow, sizeof allow);
}

static void hyblock_operate(struct user *self) {
  const uint64_t next = hyblock_acquire(self);
  run_section();
  hyblock_release(self, next);
}

static void mcs_operate(struct user *self) {
  struct queue_node *node = self->node;
  node->next = NULL;
  __atomic_store_n(&node->waits, 1, __ATOMIC_RELAXED);
  struct queue_node *previous = __atomic_exchange_n(&lock()->tail, node, __ATOMIC_RELAXED);
  if (previous) {
    __atomic_store_n(&previous->next, node, __ATOMIC_RELAXED);
    await_change(&node->waits, 1);
  }
  run_section();
  sim_fence();
  struct queue_node *next = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE), *own = node;
  if (!next && __atomic_compare_exchange_n(&lock()->tail, &own, NULL, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED))
    return;
  while (!(next = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE)))
    relock_pauses(PAUSES);
  __atomic_store_n(&next->waits, 0, __ATOMIC_RELAXED);
}

static void clh_operate(struct user *self) {
  struct queue_node *node = self->node;
  __atomic_store_n(&node->waits, 1, __ATOMIC_RELAXED);
  struct queue_node *previous = __atomic_exchange_n(&lock()->tail, node, __ATOMIC_RELAXED);
  await_change(&previous->waits, 1);
  run_section();
  sim_fence();
  __atomic_store_n(&node->waits, 0, __ATOMIC_RELAXED);
  self->node = previous;
}

static void tas_operate(struct user *self) {
  (void)self;
  while (__atomic_exchange_n(&lock()->held.value, 1, __ATOMIC_RELAXED))
    relock_pause();
  run_section();
  sim_fence();
  __atomic_store_n(&lock()->held.value, 0, __ATOMIC_RELAXED);
}

/* --------------------------------------------------------------------------------------------- */

static const struct algorithm {
  const char *name;
  void (*operate)(struct user *self);
  void *(*server)(void *user);
} algorithms[] = {
    {"mp-server", mp_server_operate, mp_server},
    {"shm-server", shm_server_operate, shm_server},
    {"hybcomb", hybcomb_operate, NULL},
    {"ccsynch", ccsynch_operate, NULL},
    {"hyblock", hyblock_operate, NULL},
    {"mcs", mcs_operate, NULL},
    {"clh", clh_operate, NULL},
    {"tas", tas_operate, NULL},
};

static const struct algorithm *find(const char *name) {
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
    if (strcmp(algorithms[i].name, name) == 0)
      return &algorithms[i];
  return NULL;
}

bool sim_bare_has_server(const char *name) {
  const struct algorithm *algorithm = find(name);
  return algorithm && algorithm->server;
}

static void make_user(struct user *user) {
  bare->channels[number_of(user)] =
      allocate(1, sizeof(struct relock_channel) + bare->capacity * sizeof(struct relock_slot));
  user->node = allocate(1, sizeof *user->node);
  user->combining_node = allocate(1, sizeof *user->combining_node);
  user->combiner = allocate(1, sizeof *user->combiner);
  user->combiner->n_ops.value = bare->load->max_ops;
  user->combiner->thread_id.value = number_of(user);
}

void sim_bare_start(const struct sim_load *load) {
  const struct algorithm *algorithm = find(load->lock);
  bare = allocate(1, sizeof *bare);
  bare->load = load;
  bare->operate = algorithm->operate;
  bare->capacity = load->threads + 1;
  bare->arriving.value = load->threads + (algorithm->server != NULL);
  bare->users = allocate(load->threads + 1, sizeof *bare->users);
  bare->channels = allocate(load->threads + 1, sizeof *bare->channels);
  for (unsigned i = 0; i <= load->threads; i++)
    make_user(&bare->users[i]);
  bare->owner = NOBODY;
  bare->last = allocate(1, sizeof *bare->last);
  bare->last_registered = bare->departed = allocate(1, sizeof *bare->departed);
  bare->departed->n_ops.value = load->max_ops;
  bare->departed->combining_done.value = 1;
  if (algorithm->operate == clh_operate)
    bare->tail = allocate(1, sizeof *bare->tail);
  if (algorithm->server && !sim_thread_start(algorithm->server, &bare->users[load->threads],
                                             "server", (int)load->processors, true))
    abort();
}

void sim_bare_join(unsigned number) {
  if (!sim_channel_open_own(channel_of(number), capacity()))
    abort();
  if (__atomic_sub_fetch(&bare->arriving.value, 1, __ATOMIC_ACQ_REL) == 0)
    relock_os->futex_wake(&bare->arriving.value, INT32_MAX);
  for (uint32_t left; (left = __atomic_load_n(&bare->arriving.value, __ATOMIC_ACQUIRE)) > 0;)
    relock_os->futex_wait(&bare->arriving.value, left, CLOCK_MONOTONIC, NULL);
}

/* The bookkeeping takes no time. */
static SIM_BOOKS struct user *next_of(unsigned number) {
  bare->users[number].operations++;
  return &bare->users[number];
}

void sim_bare_operate(unsigned number) { bare->operate(next_of(number)); }

bool sim_bare_is_exact(void) {
  uint64_t operations = 0;
  for (unsigned i = 0; i < bare->load->threads; i++)
    operations += bare->users[i].operations;
  for (unsigned i = 0; i < bare->load->lines; i++)
    if (bare->line[i].value != operations)
      return false;
  return true;
}
