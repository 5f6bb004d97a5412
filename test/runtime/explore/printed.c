/* SPDX-License-Identifier: MIT
 *
 * Channels by themselves, and MP-Server, HybComb and HybLock (Petrovic, Ropars, Schiper,
 * "Leveraging hardware message passing for efficient thread synchronization", 2014) with the
 * pseudo-code's names, steps and sequentially consistent memory. Each thread has one queue of
 * messages, a channel that it has opened once for all; waits sleep instead of spinning. With one
 * lock at a time they are correct.
 */
#include "scenarios.h"

#include "../../../runtime/base/os.h"
#include "../../../runtime/channels/channel.h"

#include <errno.h>
#include <string.h>

enum { THREADS = 3, CAPACITY = 4 };

static void require(bool condition, const char *otherwise) {
  if (!condition)
    wrong(otherwise);
}

/* --- messages -------------------------------------------------------------------------------- */

/* Each thread's; in the scenarios of a channel, the first is all threads', with one slot in use. */
static struct queue {
  struct relock_channel channel;
  struct relock_slot slots[CAPACITY];
} queue[THREADS];

enum lock_name { A, B, LOCKS };

/* `sender` is that of a request; the others are a HybComb combiner's answer, and HybLock's. */
struct message {
  int sender;
  enum lock_name lock;
};
enum { ANSWER = -1, ALLOW = -2 };

static void send_message(int to, struct message message) {
  require(relock_channel_send(&queue[to].channel, CAPACITY, 0, &message, sizeof message) == 0,
          "relock_channel_send failed");
}

static struct message receive_message(int id) {
  const struct relock_slot *slot;
  struct message message;
  require(relock_channel_receive(&queue[id].channel, CAPACITY, &slot) == 0,
          "relock_channel_receive failed");
  memcpy(&message, slot->bytes, sizeof message);
  relock_channel_received(&queue[id].channel, CAPACITY);
  return message;
}

static bool has_message(int id) { return relock_channel_look(&queue[id].channel, CAPACITY); }

/* --- a channel ------------------------------------------------------------------------------- */

static int received[THREADS];

/* Receives whatever there is and leaves. What receivers write is ordered by the channel only. */
static void receive_all(void) {
  struct relock_channel *channel = &queue[0].channel;
  while (!relock_channel_close(channel)) {
    const struct relock_slot *slot;
    require(relock_channel_receive(channel, 1, &slot) == 0, "relock_channel_receive failed");
    int sender;
    memcpy(&sender, slot->bytes, sizeof sender);
    require(sender >= 0 && sender < THREADS && slot->tag == (uint32_t)++received[sender],
            "a message is not whole, or out of its sender's order");
    relock_channel_received(channel, 1);
  }
}

/* Who finds the channel closed receives, and sends afterwards: its own messages, too, have to find
 * a receiver. */
static void send_and_receive(int id) {
  struct relock_channel *channel = &queue[0].channel;
  for (uint32_t number = 1; number <= (id == 0 ? 2 : 1);) {
    if (relock_channel_send(channel, 1, number, &id, sizeof id) == 0) {
      number++;
    } else if (relock_channel_open(channel, 1)) {
      received[id]++; /* in place of a message to itself */
      number++;
      receive_all();
    }
  }
}

static const char *all_received(void) {
  return received[0] == 2 && received[1] == 1 && received[2] <= 1 ? NULL : "a message was lost";
}

/* --- HybComb --------------------------------------------------------------------------------- */

enum { MAX_OPS = 2 };

static struct node {
  int thread_id;
  uint32_t n_ops, combining_done;
} dummy[LOCKS], own_node[THREADS][LOCKS];

static struct lock {
  struct node *departed_combiner, *last_registered_combiner;
} lock[LOCKS];

/* [i][A] is the only one, or there is one for each lock. */
static struct node *my_node[THREADS][LOCKS];

static int under[LOCKS]; /* sections run */

static int run_under(enum lock_name which) { return ++under[which]; }

static void apply_op(int id, struct node **mine, enum lock_name which, void (*section)(int id)) {
  struct lock *l = &lock[which];
  struct node *lr;
  for (;;) {
    lr = __atomic_load_n(&l->last_registered_combiner, __ATOMIC_SEQ_CST);
    if (relock_add_seq_cst(&lr->n_ops, 1) < MAX_OPS) {
      send_message(lr->thread_id, (struct message){id, which});
      require(receive_message(id).sender == ANSWER, "a request in place of the answer");
      return;
    }
    if (relock_cas_seq_cst(&l->last_registered_combiner, lr, *mine)) {
      __atomic_store_n(&(*mine)->n_ops, 0, __ATOMIC_SEQ_CST);
      while (!relock_load_seq_cst(&lr->combining_done))
        relock_os->futex_wait(&lr->combining_done, 0, CLOCK_MONOTONIC, NULL);
      break;
    }
  }
  if (section)
    section(id);
  run_under(which);
  uint32_t served = 0;
  while (has_message(id)) {
    struct message request = receive_message(id);
    run_under(request.lock);
    send_message(request.sender, (struct message){ANSWER, which});
    served++;
  }
  uint32_t total = relock_exchange_seq_cst(&(*mine)->n_ops, MAX_OPS);
  for (total = total < MAX_OPS ? total : MAX_OPS; served < total; served++) {
    struct message request = receive_message(id);
    run_under(request.lock);
    send_message(request.sender, (struct message){ANSWER, which});
  }
  struct node *departed = *mine;
  *mine = relock_exchange_seq_cst(&l->departed_combiner, departed);
  __atomic_store_n(&(*mine)->combining_done, 0, __ATOMIC_SEQ_CST);
  (*mine)->thread_id = id;
  __atomic_store_n(&departed->combining_done, 1, __ATOMIC_SEQ_CST);
  relock_os->futex_wake(&departed->combining_done, THREADS);
}

/* A node comes from one lock to the other with a thread that uses both, while another one is about
 * to register its request with whom the node belonged to. The first has used lock A before. */
static void use_locks(int id, bool nodes_apart) {
  struct node **at_a = &my_node[id][A], **at_b = &my_node[id][nodes_apart ? B : A];
  apply_op(id, at_a, A, NULL);
  if (id == 0)
    apply_op(id, at_b, B, NULL);
}
static void two_locks(int id) { use_locks(id, false); }
static void two_locks_nodes_apart(int id) { use_locks(id, true); }
static const char *two_locks_ran(void) {
  return under[A] == 4 && under[B] == 1 ? NULL : "a section was lost";
}

/* A combiner asks for another lock in its section. */
static void ask_for_b(int id) { apply_op(id, &my_node[id][B], B, NULL); }
static void nested_requests(int id) {
  apply_op(id, &my_node[id][id == 0 ? B : A], id == 0 ? B : A, id == 1 ? ask_for_b : NULL);
}
static const char *nested_requests_ran(void) {
  return under[A] == 2 && under[B] == 2 ? NULL : "a section was lost";
}

/* --- MP-Server ------------------------------------------------------------------------------- */

/* The first thread serves, as many requests as the others make; in the thesis for ever. */
enum { SERVER = 0, REQUESTS = 3 };

static void ask_server(int id) {
  send_message(SERVER, (struct message){id, A});
  require(receive_message(id).sender == ANSWER, "a request in place of the answer");
}

static void serve_or_ask(int id, bool nested) {
  for (int i = 0; id == SERVER && i < REQUESTS; i++) {
    struct message request = receive_message(SERVER);
    run_under(A);
    if (nested && request.sender == 1)
      ask_server(SERVER);
    send_message(request.sender, (struct message){ANSWER, A});
  }
  for (int i = 0; id != SERVER && i < REQUESTS - id; i++)
    ask_server(id);
}
static void one_server(int id) { serve_or_ask(id, false); }
static void server_asks_itself(int id) { serve_or_ask(id, true); }
static const char *all_served(void) { return under[A] == REQUESTS ? NULL : "a section was lost"; }

/* --- HybLock --------------------------------------------------------------------------------- */

enum { UNLOCKED = -1, NOBODY = -1 };
static int last[LOCKS], next[THREADS];

static void acquire(int id, enum lock_name which) {
  int previous = relock_exchange_seq_cst(&last[which], id);
  if (previous == UNLOCKED)
    return;
  send_message(previous, (struct message){id, which});
  struct message message = receive_message(id);
  if (message.sender != ALLOW) {
    next[id] = message.sender;
    require(receive_message(id).sender == ALLOW, "another message in place of ALLOW");
  }
}

static void release(int id, enum lock_name which) {
  int heir = next[id];
  next[id] = NOBODY;
  if (heir == NOBODY) {
    if (!has_message(id) && relock_cas_seq_cst(&last[which], id, UNLOCKED))
      return;
    heir = receive_message(id).sender;
  }
  send_message(heir, (struct message){ALLOW, which});
}

/* One holds both locks, two wait for one each. */
static void nested_holders(int id) {
  if (id == 0) {
    acquire(id, A);
    acquire(id, B);
    run_under(B);
    release(id, B);
  } else {
    acquire(id, id == 1 ? A : B);
  }
  run_under(id == 2 ? B : A);
  release(id, id == 2 ? B : A);
}
static const char *nested_holders_ran(void) {
  return under[A] == 2 && under[B] == 2 ? NULL : "a section was lost";
}

/* --- OC-Bcast -------------------------------------------------------------------------------- */

/* Of Petrovic's thesis (2016), section 3.1, with two children and a chunk: the root is the parent
 * of both others, so that each core is notified by it, and none notifies besides. [i][0] is the
 * only flag of a core, or there is one for each core that notifies it. */
static uint32_t notify_flag[THREADS][THREADS], done_flag[THREADS][THREADS], chunk[THREADS];

static void put_flag(uint32_t *flag, uint32_t id) {
  relock_exchange_seq_cst(flag, id);
  relock_os->futex_wake(flag, THREADS);
}

static void await_flag(uint32_t *flag, uint32_t id) {
  for (uint32_t found; (found = relock_load_seq_cst(flag)) < id;)
    relock_os->futex_wait(flag, found, CLOCK_MONOTONIC, NULL);
}

static void broadcast(int id, uint32_t number, int root, bool flags_apart) {
  if (id != root) {
    await_flag(&notify_flag[id][flags_apart ? root : 0], number);
    require(relock_load_seq_cst(&chunk[root]) == number, "a chunk of another broadcast");
    put_flag(&done_flag[root][id], number);
    return;
  }
  relock_exchange_seq_cst(&chunk[root], number);
  for (int child = (root + 1) % THREADS; child != root; child = (child + 1) % THREADS)
    put_flag(&notify_flag[child][flags_apart ? root : 0], number);
  for (int child = (root + 1) % THREADS; child != root; child = (child + 1) % THREADS)
    await_flag(&done_flag[root][child], number);
}

static void broadcast_twice(int id, bool flags_apart) {
  broadcast(id, 1, 0, flags_apart);
  broadcast(id, 2, 1, flags_apart);
}
static void two_roots(int id) { broadcast_twice(id, false); }
static void two_roots_flags_apart(int id) { broadcast_twice(id, true); }
static const char *all_have_both(void) {
  return chunk[0] == 1 && chunk[1] == 2 ? NULL : "a broadcast was lost";
}

static void set_up_broadcast(void) {
  memset(notify_flag, 0, sizeof notify_flag);
  memset(done_flag, 0, sizeof done_flag);
  memset(chunk, 0, sizeof chunk);
}

/* --------------------------------------------------------------------------------------------- */

static void set_up_channel(void) {
  memset(queue, 0, sizeof queue);
  memset(received, 0, sizeof received);
}

static void set_up_printed(void) {
  set_up_channel();
  memset(under, 0, sizeof under);
  for (int i = 0; i < LOCKS; i++) {
    dummy[i] = (struct node){.n_ops = MAX_OPS, .combining_done = 1};
    lock[i] = (struct lock){&dummy[i], &dummy[i]};
    last[i] = UNLOCKED;
  }
  for (int i = 0; i < THREADS; i++) {
    relock_channel_open(&queue[i].channel, CAPACITY);
    next[i] = NOBODY;
    for (int j = 0; j < LOCKS; j++) {
      own_node[i][j] = (struct node){.thread_id = i, .n_ops = MAX_OPS};
      my_node[i][j] = &own_node[i][j];
    }
  }
}

static void set_up_used(void) {
  set_up_printed();
  apply_op(0, &my_node[0][A], A, NULL);
}

const struct scenario scenarios_apart[] = {
    {"channel", "three messages for whoever receives, one at a time", 2, 0, set_up_channel,
     send_and_receive, all_received},
    {"channel-3", "the same with four messages of three threads", 3, 2, set_up_channel,
     send_and_receive, all_received},
    {"printed-hybcomb", "HybComb as printed, with two locks", 3, 0, set_up_used, two_locks,
     two_locks_ran},
    {"nodes-hybcomb", "the same with nodes for each thread and lock", 3, 2, set_up_used,
     two_locks_nodes_apart, two_locks_ran},
    {"nested-hybcomb", "HybComb as printed, with a section in a section", 3, 1, set_up_printed,
     nested_requests, nested_requests_ran},
    {"mp-server", "MP-Server, with three sections", 3, 2, set_up_printed, one_server, all_served},
    {"nested-mp-server", "MP-Server as printed, with a section in a section", 3, 1, set_up_printed,
     server_asks_itself, all_served},
    {"printed-oc-bcast", "OC-Bcast as printed, from two roots", 3, 2, set_up_broadcast, two_roots,
     all_have_both},
    {"flags-oc-bcast", "the same with a flag for each core that notifies", 3, 2, set_up_broadcast,
     two_roots_flags_apart, all_have_both},
    {"nested-hyblock", "HybLock as printed, with two locks held", 3, 1, set_up_printed,
     nested_holders, nested_holders_ran},
};
const int scenario_apart_count = sizeof scenarios_apart / sizeof *scenarios_apart;
