/* SPDX-License-Identifier: MIT
 *
 * Relock containers: a counter, a stack, two queues and a map, each of whose operations is one
 * short section under a relock_mutex_t (relock.h). The lock class says by which algorithm, so that
 * RELOCK_LOCKS changes it and a server or a combiner, whose cache keeps the container, runs them:
 *
 *   RELOCK_LOCK_CLASS(jobs, "jobs", "ccsynch");
 *   static relock_queue_t jobs = RELOCK_QUEUE_INITIALIZER(jobs);
 *
 *   struct job {
 *     relock_node_t node; // first, so that a node's address is its job's
 *     ...
 *   };
 *
 *   relock_queue_enqueue(&jobs, &job->node);                        // one thread
 *   struct job *job = (struct job *)relock_queue_dequeue(&jobs);    // another
 *
 * All are linearizable: each operation takes effect at one moment between its call and its return.
 * Nothing is allocated: nodes are the program's memory. A node that was put into a container is the
 * container's until an operation has returned it, and the program neither reads nor writes it
 * meanwhile; what lies beside the node travels with it, written before and read after.
 *
 * Operations may be called by any thread at any time, from sections under other mutexes, too. _init
 * and _destroy are not called while another thread uses the container. What relock.h says of all
 * its functions holds: none changes errno, is a cancellation point, or is for signal handlers. A
 * class has to be there while containers of it are used, as for a mutex: one in a library that is
 * closed is destroyed before.
 */
#ifndef RELOCK_CONTAINERS_H
#define RELOCK_CONTAINERS_H

#include <relock/relock.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What sections write lies in another cache line than what threads that ask for one write. */
#define RELOCK_CONTAINER_DATA __attribute__((aligned(64)))

/* Of a stack or a queue. */
typedef struct relock_node {
  struct relock_node *relock_next;
} relock_node_t;

/* --- Counter ---
 *
 * A number that threads add to, as in section 6.2.3 of D. Petrovic's thesis (EPFL, 2016). */
typedef struct relock_counter_object {
  struct {
    relock_mutex_t mutex;
    RELOCK_CONTAINER_DATA uint64_t value;
  } relock_private;
} relock_counter_t;

/* Static initialiser, for a class defined by RELOCK_LOCK_CLASS. */
#define RELOCK_COUNTER_INITIALIZER(id, start)                                                      \
  {                                                                                                \
    {                                                                                              \
      RELOCK_MUTEX_INITIALIZER(id), (start)                                                        \
    }                                                                                              \
  }

/* lock_class: from RELOCK_CLASS, or null for the default class, here and below. */
int relock_counter_init(relock_counter_t *counter, relock_class_t *lock_class, uint64_t start);

/* Adds, modulo 2^64, and returns what the value was before. */
uint64_t relock_counter_add(relock_counter_t *counter, uint64_t amount);

uint64_t relock_counter_read(relock_counter_t *counter);

/* EBUSY: an operation is under way. */
int relock_counter_destroy(relock_counter_t *counter);

/* --- Stack ---
 *
 * A linked list under one lock (the same thesis, section 6.2.4). */
typedef struct relock_stack {
  struct {
    relock_mutex_t mutex;
    RELOCK_CONTAINER_DATA relock_node_t *top;
  } relock_private;
} relock_stack_t;

#define RELOCK_STACK_INITIALIZER(id) {{RELOCK_MUTEX_INITIALIZER(id), 0}}

int relock_stack_init(relock_stack_t *stack, relock_class_t *lock_class);

/* EINVAL: no node. */
int relock_stack_push(relock_stack_t *stack, relock_node_t *node);

/* The node that was pushed last, which is the caller's now; null: the stack is empty. */
relock_node_t *relock_stack_pop(relock_stack_t *stack);

/* EBUSY: it is not empty, or an operation is under way. */
int relock_stack_destroy(relock_stack_t *stack);

/* --- Queue ---
 *
 * First in, first out, a linked list under one lock (there, too). */
typedef struct relock_queue {
  struct {
    relock_mutex_t mutex;
    RELOCK_CONTAINER_DATA relock_node_t *first;
    relock_node_t *last; /* of one that is not empty */
  } relock_private;
} relock_queue_t;

#define RELOCK_QUEUE_INITIALIZER(id) {{RELOCK_MUTEX_INITIALIZER(id), 0, 0}}

int relock_queue_init(relock_queue_t *queue, relock_class_t *lock_class);

/* EINVAL: no node. */
int relock_queue_enqueue(relock_queue_t *queue, relock_node_t *node);

/* The node that was enqueued first, which is the caller's now; null: the queue is empty. */
relock_node_t *relock_queue_dequeue(relock_queue_t *queue);

/* EBUSY: it is not empty, or an operation is under way. */
int relock_queue_destroy(relock_queue_t *queue);

/* --- Queue with two locks ---
 *
 * M. M. Michael, M. L. Scott, "Simple, fast, and practical non-blocking and blocking concurrent
 * queue algorithms" (1996), section 2: one lock for each end, so that enqueuing and dequeuing go on
 * side by side, on two servers for example (classes "rcl:1" and "rcl:2"). A dummy node stands
 * before the first value, so that the ends never meet. Whoever takes a value gets the node that was
 * the dummy, and the value's own node becomes it: what comes back is a node, but another one. Thus
 * nodes are for this queue alone, and values are pointers beside them.
 *
 * As the ends have no lock in common, a dequeue comes after an enqueue that has returned where the
 * program orders the two, by anything that lets one thread know of the other's return. */
typedef struct relock_value_node {
  struct relock_value_node *relock_next;
  void *relock_value;
} relock_value_node_t;

typedef struct relock_two_lock_queue {
  struct {
    relock_mutex_t dequeue_mutex;
    RELOCK_CONTAINER_DATA relock_value_node_t *dummy;
    RELOCK_CONTAINER_DATA relock_mutex_t enqueue_mutex;
    RELOCK_CONTAINER_DATA relock_value_node_t *last;
  } relock_private;
} relock_two_lock_queue_t;

/* The classes may be one. dummy: a node, the queue's from now on. EINVAL: no node. */
int relock_two_lock_queue_init(relock_two_lock_queue_t *queue, relock_class_t *enqueue_class,
                               relock_class_t *dequeue_class, relock_value_node_t *dummy);

/* node: the queue's from now on. EINVAL: no node. */
int relock_two_lock_queue_enqueue(relock_two_lock_queue_t *queue, relock_value_node_t *node,
                                  void *value);

/* Sets *value to the value that was enqueued first, and returns a node that is the caller's now;
 * null, and *value as it was: the queue is empty. */
relock_value_node_t *relock_two_lock_queue_dequeue(relock_two_lock_queue_t *queue, void **value);

/* Sets *dummy to the node that is left, which is the caller's now. EBUSY: the queue is not empty,
 * or an operation is under way. */
int relock_two_lock_queue_destroy(relock_two_lock_queue_t *queue, relock_value_node_t **dummy);

/* --- Map ---
 *
 * A hash table in parts, each with a lock of its own; a key's hash says in which part it is, so
 * that operations on different parts go on side by side: PART_SIMPLE of Shahmirzadi,
 * "High-performance communication primitives and data structures on message-passing manycores"
 * (thesis, 2014), section 3.4.2. The table does not grow: as many buckets as there will be entries
 * are a good number. One key is in the map once. */
typedef struct relock_map_node {
  const void *key; /* set by the program, and unchanged while the node is in a map */
  void *value;     /* the same, but relock_map_get() reads it meanwhile */
  uint64_t relock_hash;
  struct relock_map_node *relock_next;
} relock_map_node_t;

typedef struct relock_map_part {
  RELOCK_CONTAINER_DATA relock_mutex_t relock_mutex;
} relock_map_part_t;

/* Called by the thread that asks for an operation, outside of its section. */
typedef uint64_t (*relock_hash_t)(const void *key);

/* Whether two keys are the same (not 0). Called in sections, perhaps by another thread: a function
 * as relock_execute_any_thread() wants it, which only compares. */
typedef int (*relock_equal_t)(const void *key, const void *other);

typedef struct relock_map {
  struct {
    relock_map_part_t *parts;
    relock_map_node_t **buckets;
    relock_hash_t hash;
    relock_equal_t equal;
    unsigned part_bits, bucket_bits; /* logarithms of the numbers */
  } relock_private;
} relock_map_t;

/* parts, buckets: arrays that are the map's until it is destroyed. All parts' mutexes are of one
 * class. EINVAL: a number that is no power of two, fewer buckets than parts, a null pointer. */
int relock_map_init(relock_map_t *map, relock_class_t *lock_class, relock_map_part_t *parts,
                    size_t part_count, relock_map_node_t **buckets, size_t bucket_count,
                    relock_hash_t hash, relock_equal_t equal);

/* Spreads the parts over the servers 1 to `servers`, by relock_mutex_set_server(); 0: all are on
 * the server of their class. EINVAL: more than RELOCK_MAX_SERVERS. */
int relock_map_spread(relock_map_t *map, unsigned servers);

/* Sets *value to that of the key. ENOENT: the key is not in the map, and *value as it was. */
int relock_map_get(relock_map_t *map, const void *key, void **value);

/* Puts a node with its key and value into the map. One that had the same key is taken out: it is in
 * *replaced, and the caller's now; without one, *replaced is null. EINVAL: no node. */
int relock_map_put(relock_map_t *map, relock_map_node_t *node, relock_map_node_t **replaced);

/* Takes the node with the key out: it is the caller's now. Null: the key is not in the map. */
relock_map_node_t *relock_map_remove(relock_map_t *map, const void *key);

/* Takes all nodes out, one part after the other, each at one moment. Returns the first; from there
 * relock_map_next() leads to the others. All are the caller's. */
relock_map_node_t *relock_map_clear(relock_map_t *map);
static inline relock_map_node_t *relock_map_next(const relock_map_node_t *node) {
  return node->relock_next;
}

/* EBUSY: it is not empty, or an operation is under way. */
int relock_map_destroy(relock_map_t *map);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
