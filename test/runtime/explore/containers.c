/* SPDX-License-Identifier: MIT
 *
 * Containers: what threads get from them must be linearizable (../linearize.h), in each execution.
 * They run only where they are named, the wrong ones (../contained.c) to be found.
 */
#include "scenarios.h"

#include "../../../runtime/base/atomic.h"
#include "../contained.h"

#include <string.h>

enum { MOST = 2 };

/* What a thread does. */
struct plan {
  struct step {
    enum call call;
    int key, value;
  } step[MOST];
  int steps;
};

static const struct plan add_and_read[] = {{{{INSERT, 0, 1}, {LOOK, 0, 0}}, 2},
                                           {{{INSERT, 0, 2}, {INSERT, 0, 4}}, 2},
                                           {{{INSERT, 0, 8}}, 1}},
                         insert_and_take[] = {{{{INSERT, 0, 1}, {TAKE, 0, 0}}, 2},
                                              {{{INSERT, 0, 2}, {TAKE, 0, 0}}, 2},
                                              {{{TAKE, 0, 0}}, 1}},
                         insert_two[] = {{{{INSERT, 0, 1}, {INSERT, 0, 2}}, 2},
                                         {{{TAKE, 0, 0}, {TAKE, 0, 0}}, 2},
                                         {{{TAKE, 0, 0}}, 1}},
                         put_and_get[] = {{{{INSERT, 0, 1}, {INSERT, 0, 2}}, 2},
                                          {{{LOOK, 0, 0}, {TAKE, 0, 0}}, 2},
                                          {{{INSERT, 1, 3}}, 1}};

static const struct contained *subject;
static const struct plan *plans;
static bool noted; /* whether calls and returns are */
static struct operation operations[MAX_THREADS][MOST];
static uint32_t moment;

static void set_up(const char *name, const struct plan *plan, bool note) {
  for (int i = 0; i < contained_count; i++)
    if (strcmp(contained[i].name, name) == 0)
      subject = &contained[i];
  plans = plan;
  noted = note;
  moment = 0;
  memset(operations, 0, sizeof operations);
  subject->begin(scenarios_class());
}

/* Of two operations one comes before the other where the memory model says so, and not because it
 * ran before: so each takes a number, which orders its call and its return with all others'. */
static uint32_t now(void) { return noted ? relock_add_seq_cst(&moment, 1) : 0; }

static void operate(int id) {
  for (int i = 0; i < plans[id].steps; i++) {
    const struct step *step = &plans[id].step[i];
    struct operation *operation = &operations[id][i];
    operation->call = step->call;
    operation->thread = id;
    operation->key = step->key;
    operation->value = step->value;
    operation->called = now();
    operation->result = subject->operate(step->call, step->key, step->value);
    operation->returned = now();
  }
}

static const char *is_linearizable(void) {
  struct operation history[MAX_THREADS * MOST];
  unsigned count = 0;
  for (int id = 0; id < thread_count; id++)
    for (int i = 0; i < plans[id].steps && operations[id][i].returned; i++)
      history[count++] = operations[id][i];
  return linearizable(subject->object, history, count) ? NULL : "not linearizable";
}

/* Without numbers nothing but the container orders its threads. */
static const char *is_anything(void) { return NULL; }

/* Two threads store; what two others find after both is the order of the stores alone. */
static uint32_t stored[2];
static void set_up_order(void) {
  moment = 0;
  memset(stored, 0, sizeof stored);
}
static void store_or_load(int id) {
  if (id < 2) {
    relock_store_relaxed(&moment, (uint32_t)id + 1);
    relock_store_relaxed(&stored[id], 1);
  } else {
    (void)relock_load_relaxed(&stored[0]);
    (void)relock_load_relaxed(&stored[1]);
    (void)relock_load_relaxed(&moment);
  }
}

#define CONTAINED(name, of, plan, note)                                                            \
  static void set_up_##name(void) { set_up(of, plan, note); }
CONTAINED(counter, "counter", add_and_read, true)
CONTAINED(stack, "stack", insert_and_take, true)
CONTAINED(queue, "queue", insert_and_take, true)
CONTAINED(queue_two, "queue", insert_two, true)
CONTAINED(two_lock, "two-lock-queue", insert_and_take, true)
CONTAINED(two_lock_two, "two-lock-queue", insert_two, true)
CONTAINED(two_lock_alone, "two-lock-queue", insert_two, false)
CONTAINED(map, "map", put_and_get, true)
CONTAINED(losing, "losing-counter", add_and_read, true)
CONTAINED(stale, "stale-stack", insert_and_take, true)
CONTAINED(swapping, "swapping-queue", insert_two, true)
CONTAINED(emptied, "emptied-queue", insert_two, true)
CONTAINED(gone, "gone-map", put_and_get, true)

const struct scenario scenarios_contained[] = {
    {"counter", "two threads add and read", 2, 1, set_up_counter, operate, is_linearizable},
    {"counter-3", "the same beside a third one", 3, 2, set_up_counter, operate, is_linearizable},
    {"stack", "each of two threads pushes and pops", 2, 1, set_up_stack, operate, is_linearizable},
    {"stack-3", "the same while a third one pops", 3, 2, set_up_stack, operate, is_linearizable},
    {"queue", "each of two threads enqueues and dequeues", 2, 1, set_up_queue, operate,
     is_linearizable},
    {"queue-3", "one enqueues twice, two others dequeue", 3, 2, set_up_queue_two, operate,
     is_linearizable},
    {"two-lock", "each of two threads enqueues and dequeues, with two locks", 2, 1, set_up_two_lock,
     operate, is_linearizable},
    {"two-lock-3", "one enqueues twice, two others dequeue, with two locks", 3, 2,
     set_up_two_lock_two, operate, is_linearizable},
    {"two-lock-alone", "data races of one that enqueues and one that dequeues", 2, 1,
     set_up_two_lock_alone, operate, is_anything},
    {"map", "one puts and replaces, the other gets and removes", 2, 1, set_up_map, operate,
     is_linearizable},
    {"map-3", "the same while a third one puts another key", 3, 2, set_up_map, operate,
     is_linearizable},
    {"losing-counter", "wrong: an addition in two sections", 2, 1, set_up_losing, operate,
     is_linearizable},
    {"stale-stack", "wrong: a pop in two sections", 2, 1, set_up_stale, operate, is_linearizable},
    {"swapping-queue", "wrong: two elements change their places", 2, 1, set_up_swapping, operate,
     is_linearizable},
    {"emptied-queue", "wrong: a dequeue in two sections", 3, 2, set_up_emptied, operate,
     is_linearizable},
    {"gone-map", "wrong: a replacement in two sections", 2, 1, set_up_gone, operate,
     is_linearizable},
    {"order-4", "two stores to one object, and two loads", 4, 3, set_up_order, store_or_load,
     is_anything},
};
const int scenario_contained_count = sizeof scenarios_contained / sizeof *scenarios_contained;
