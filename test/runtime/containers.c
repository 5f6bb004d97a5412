/* SPDX-License-Identifier: MIT
 *
 * Containers, by their header: results, order, error numbers, and what a section's request carries.
 *
 *   containers ALGORITHM
 */
#include "check.h"

#include <relock/containers.h>

#include <errno.h>
#include <string.h>

const char *check_case;

static relock_class_t lock_class = {.name = "contained"}, other_class = {.name = "contained-2"};

static void counter(void) {
  check_case = "counter";
  relock_counter_t counter;
  CHECK_EQUAL(relock_counter_init(&counter, &lock_class, 40), 0);
  CHECK_EQUAL(relock_counter_add(&counter, 2), 40);
  CHECK_EQUAL(relock_counter_read(&counter), 42);
  CHECK_EQUAL(relock_counter_add(&counter, (uint64_t)-43), 42);
  CHECK(relock_counter_read(&counter) == UINT64_MAX);
  CHECK(relock_counter_add(&counter, 1) == UINT64_MAX);
  CHECK_EQUAL(relock_counter_read(&counter), 0);
  CHECK_EQUAL(relock_counter_destroy(&counter), 0);
}

static void stack(void) {
  check_case = "stack";
  relock_stack_t stack;
  relock_node_t node[3];
  CHECK_EQUAL(relock_stack_init(&stack, &lock_class), 0);
  CHECK(relock_stack_pop(&stack) == NULL);
  CHECK_EQUAL(relock_stack_push(&stack, NULL), EINVAL);
  for (int i = 0; i < 3; i++)
    CHECK_EQUAL(relock_stack_push(&stack, &node[i]), 0);
  CHECK_EQUAL(relock_stack_destroy(&stack), EBUSY);
  CHECK(relock_stack_pop(&stack) == &node[2]);
  CHECK_EQUAL(relock_stack_push(&stack, &node[2]), 0);
  for (int i = 3; i-- > 0;)
    CHECK(relock_stack_pop(&stack) == &node[i]);
  CHECK(relock_stack_pop(&stack) == NULL);
  CHECK_EQUAL(relock_stack_destroy(&stack), 0);
}

static void queue(void) {
  check_case = "queue";
  relock_queue_t queue;
  relock_node_t node[3];
  CHECK_EQUAL(relock_queue_init(&queue, &lock_class), 0);
  for (int round = 0; round < 3; round++) {
    CHECK(relock_queue_dequeue(&queue) == NULL);
    CHECK_EQUAL(relock_queue_enqueue(&queue, NULL), EINVAL);
    for (int i = 0; i < 3; i++)
      CHECK_EQUAL(relock_queue_enqueue(&queue, &node[i]), 0);
    CHECK_EQUAL(relock_queue_destroy(&queue), EBUSY);
    for (int i = 0; i < 3; i++)
      CHECK(relock_queue_dequeue(&queue) == &node[i]);
  }
  CHECK(relock_queue_dequeue(&queue) == NULL);
  CHECK_EQUAL(relock_queue_destroy(&queue), 0);
}

static void two_lock_queue(void) {
  check_case = "two_lock_queue";
  enum { VALUES = 3 };
  relock_two_lock_queue_t queue;
  relock_value_node_t node[VALUES + 1], *taken, *left = NULL;
  char value[VALUES];
  void *found = node;
  CHECK_EQUAL(relock_two_lock_queue_init(&queue, &lock_class, &other_class, NULL), EINVAL);
  CHECK_EQUAL(relock_two_lock_queue_init(&queue, &lock_class, &other_class, &node[VALUES]), 0);
  CHECK(relock_two_lock_queue_dequeue(&queue, &found) == NULL);
  CHECK(found == node);
  CHECK_EQUAL(relock_two_lock_queue_enqueue(&queue, NULL, value), EINVAL);
  for (int i = 0; i < VALUES; i++)
    CHECK_EQUAL(relock_two_lock_queue_enqueue(&queue, &node[i], &value[i]), 0);
  CHECK_EQUAL(relock_two_lock_queue_destroy(&queue, &left), EBUSY);
  CHECK(left == NULL);
  for (int i = 0; i < VALUES; i++) {
    taken = relock_two_lock_queue_dequeue(&queue, &found);
    CHECK(taken == &node[i ? i - 1 : VALUES]); /* the node that was the dummy */
    CHECK(found == &value[i]);
  }
  CHECK(relock_two_lock_queue_dequeue(&queue, &found) == NULL);
  relock_mutex_t *const mutexes[] = {&queue.relock_private.enqueue_mutex,
                                     &queue.relock_private.dequeue_mutex};
  for (int i = 0; i < 2; i++) { /* a busy queue keeps its dummy */
    CHECK_EQUAL(relock_mutex_lock(mutexes[i]), 0);
    CHECK_EQUAL(relock_two_lock_queue_destroy(&queue, &left), EBUSY);
    CHECK(left == NULL);
    CHECK_EQUAL(relock_mutex_unlock(mutexes[i]), 0);
  }
  CHECK_EQUAL(relock_two_lock_queue_destroy(&queue, &left), 0);
  CHECK(left == &node[VALUES - 1]);
}

/* --- map ------------------------------------------------------------------------------------- */

enum { PARTS = 4, BUCKETS = 16, ENTRIES = 100 };
static relock_map_part_t parts[BUCKETS];
static relock_map_node_t *buckets[BUCKETS];
static long keys[ENTRIES];

static uint64_t hash_long(const void *key) { return (uint64_t)*(const long *)key; }
static uint64_t hash_all_alike(const void *key) {
  (void)key;
  return 7;
}
static int equal_longs(const void *key, const void *other) {
  return *(const long *)key == *(const long *)other;
}

static void map_is_refused(void) {
  check_case = "map_is_refused";
  static const size_t wrong[][2] = {{0, BUCKETS}, {3, BUCKETS}, {PARTS, 0}, {PARTS, 15}, {16, 8}};
  relock_map_t map;
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK_EQUAL(relock_map_init(&map, &lock_class, parts, wrong[i][0], buckets, wrong[i][1],
                                hash_long, equal_longs),
                EINVAL);
  CHECK_EQUAL(
      relock_map_init(&map, &lock_class, NULL, PARTS, buckets, BUCKETS, hash_long, equal_longs),
      EINVAL);
  CHECK_EQUAL(
      relock_map_init(&map, &lock_class, parts, PARTS, NULL, BUCKETS, hash_long, equal_longs),
      EINVAL);
  CHECK_EQUAL(relock_map_init(&map, &lock_class, parts, PARTS, buckets, BUCKETS, NULL, equal_longs),
              EINVAL);
  CHECK_EQUAL(relock_map_init(&map, &lock_class, parts, PARTS, buckets, BUCKETS, hash_long, NULL),
              EINVAL);
}

/* Keys stand elsewhere than in the map when they are asked for. */
static void map(size_t part_count, size_t bucket_count, relock_hash_t hash) {
  check_case = "map";
  static relock_map_node_t node[ENTRIES], again[ENTRIES];
  relock_map_node_t *replaced;
  relock_map_t map;
  char value[ENTRIES];
  void *found = NULL;
  memset(buckets, 0xff, sizeof buckets);
  CHECK_EQUAL(relock_map_init(&map, &lock_class, parts, part_count, buckets, bucket_count, hash,
                              equal_longs),
              0);
  CHECK_EQUAL(relock_map_spread(&map, RELOCK_MAX_SERVERS + 1), EINVAL);
  CHECK_EQUAL(relock_map_spread(&map, 2), 0);
  CHECK_EQUAL(relock_map_put(&map, NULL, &replaced), EINVAL);
  for (long i = 0; i < ENTRIES; i++) {
    keys[i] = 1000 + i;
    CHECK_EQUAL(relock_map_get(&map, &keys[i], &found), ENOENT);
    CHECK(found == NULL);
    CHECK(relock_map_remove(&map, &keys[i]) == NULL);
    node[i] = (relock_map_node_t){.key = &keys[i], .value = &value[i]};
    CHECK_EQUAL(relock_map_put(&map, &node[i], &replaced), 0);
    CHECK(replaced == NULL);
  }
  CHECK_EQUAL(relock_map_destroy(&map), EBUSY);
  for (long i = 0; i < ENTRIES; i++) {
    long key = 1000 + i;
    CHECK_EQUAL(relock_map_get(&map, &key, &found), 0);
    CHECK(found == &value[i]);
    again[i] = (relock_map_node_t){.key = &keys[i], .value = &again[i]};
    if (i % 2) {
      CHECK_EQUAL(relock_map_put(&map, &again[i], &replaced), 0);
      CHECK(replaced == &node[i]);
    } else {
      CHECK(relock_map_remove(&map, &key) == &node[i]);
    }
  }
  for (long i = 0; i < ENTRIES; i++) {
    CHECK_EQUAL(relock_map_get(&map, &keys[i], &found), i % 2 ? 0 : ENOENT);
    CHECK(i % 2 == 0 || found == &again[i]);
  }
  long taken = 0;
  for (relock_map_node_t *at = relock_map_clear(&map); at; at = relock_map_next(at)) {
    CHECK_EQUAL((at - again) % 2, 1);
    CHECK(at->value == at);
    at->value = NULL;
    taken++;
  }
  CHECK_EQUAL(taken, ENTRIES / 2);
  CHECK(relock_map_clear(&map) == NULL);
  CHECK_EQUAL(relock_map_spread(&map, 0), 0);
  CHECK_EQUAL(relock_map_destroy(&map), 0);
}

/* --------------------------------------------------------------------------------------------- */

RELOCK_LOCK_CLASS(initialised, "initialised", "ccsynch");
static relock_counter_t static_counter = RELOCK_COUNTER_INITIALIZER(initialised, 5);
static relock_stack_t static_stack = RELOCK_STACK_INITIALIZER(initialised);
static relock_queue_t static_queue = RELOCK_QUEUE_INITIALIZER(initialised);

static void initialisers(void) {
  check_case = "initialisers";
  relock_node_t node;
  relock_statistics_t statistics;
  CHECK_EQUAL(relock_counter_add(&static_counter, 1), 5);
  CHECK_EQUAL(relock_stack_push(&static_stack, &node), 0);
  CHECK(relock_stack_pop(&static_stack) == &node);
  CHECK_EQUAL(relock_queue_enqueue(&static_queue, &node), 0);
  CHECK(relock_queue_dequeue(&static_queue) == &node);
  relock_class_statistics(RELOCK_CLASS(initialised), &statistics);
  CHECK_EQUAL(statistics.executed, 5); /* one section for each operation */
  CHECK_EQUAL(statistics.mutexes, 3);
  CHECK_EQUAL(statistics.held, 0);
}

static int push_in_section(void *node) { return relock_stack_push(&static_stack, node); }

/* A container may be used in a section, and by who holds another mutex. */
static void nested(void) {
  check_case = "nested";
  relock_mutex_t mutex;
  relock_node_t node;
  CHECK_EQUAL(relock_mutex_init(&mutex, NULL, &lock_class), 0);
  CHECK_EQUAL(relock_execute(&mutex, push_in_section, &node), 0);
  CHECK_EQUAL(relock_mutex_lock(&mutex), 0);
  CHECK(relock_stack_pop(&static_stack) == &node);
  CHECK_EQUAL(relock_mutex_unlock(&mutex), 0);
  CHECK_EQUAL(relock_mutex_destroy(&mutex), 0);
}

/* errno is as it was. */
static void keeps_errno(void) {
  check_case = "keeps_errno";
  errno = EDOM;
  relock_counter_add(&static_counter, 1);
  CHECK(relock_queue_dequeue(&static_queue) == NULL);
  CHECK_EQUAL(errno, EDOM);
}

/* Behind the class's own destructor, when the process ends: only its statistics are over. */
static __attribute__((destructor(101))) void use_at_exit(void) {
  check_case = "use_at_exit";
  relock_counter_add(&static_counter, 1);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: containers ALGORITHM\n");
    return 2;
  }
  alarm(120);
  lock_class.algorithm = other_class.algorithm = argv[1];
  counter();
  stack();
  queue();
  two_lock_queue();
  map_is_refused();
  map(PARTS, BUCKETS, hash_long);
  map(1, 1, hash_long);
  map(BUCKETS, BUCKETS, hash_long);
  map(PARTS, BUCKETS, hash_all_alike);
  initialisers();
  nested();
  keeps_errno();
  printf("containers %s: ok\n", argv[1]);
  return 0;
}
