/* SPDX-License-Identifier: MIT
 *
 * Many threads do random operations on one container of each kind, and nothing may be lost, doubled
 * or out of order.
 *
 *   containers-torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED]
 *
 * The seed is printed; with it each thread chooses the same operations again. A watchdog ends a run
 * that makes no progress for a while after its time, and prints the seed.
 *
 * Items go from thread to thread through a stack and two queues. Whoever has one writes to it with
 * plain stores. Each thread has keys of its own in the map, of which it knows what they give.
 */
#define _GNU_SOURCE
#include "check.h"

#include <relock/containers.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
  MAX_THREADS = 256,
  ITEMS = 8, /* that a thread has at first */
  MOST_ITEMS = 64,
  KEYS = 4,
  PARTS = 8,
  BUCKETS = 64,
  PATIENCE_SECONDS = 100
};
enum place { HELD, IN_STACK, IN_QUEUE, IN_TWO_LOCK_QUEUE };

struct item {
  relock_node_t node;
  enum place place;
  int sender;
  uint64_t number; /* of the sender's, in this queue */
  long uses;
};

struct key {
  int thread, number;
};

struct worker {
  int number;
  uint64_t random;
  struct item *item[MOST_ITEMS]; /* that it has */
  int items;
  relock_value_node_t
      *value_node[MOST_ITEMS]; /* as many as items outside of the queue, on average */
  int value_nodes;
  uint64_t sent[2], seen[2][MAX_THREADS]; /* in each queue: numbers */
  uint64_t added, counted;
  relock_map_node_t map_node[KEYS][2];
  int in_map[KEYS]; /* which of the two, or -1 */
  long operations;
};

const char *check_case = "containers-torture";
static relock_class_t lock_class = {.name = "contained"}, other_class = {.name = "contained-2"};
static relock_counter_t counter;
static relock_stack_t stack;
static relock_queue_t queue;
static relock_two_lock_queue_t two_lock_queue;
static relock_map_t map;
static relock_map_part_t parts[PARTS];
static relock_map_node_t *buckets[BUCKETS];

static struct item items[MAX_THREADS][ITEMS];
static relock_value_node_t value_nodes[MAX_THREADS * ITEMS + 1];
static struct key keys[MAX_THREADS][KEYS];
static struct worker workers[MAX_THREADS];
static pthread_barrier_t line_up;
static double stop_at;
static uint64_t seed;
static int threads;

/* --- items ----------------------------------------------------------------------------------- */

static void put_item(struct worker *worker, enum place place) {
  if (worker->items == 0 || (place == IN_TWO_LOCK_QUEUE && worker->value_nodes == 0))
    return;
  struct item *item = worker->item[--worker->items];
  CHECK_EQUAL(item->place, HELD);
  item->place = place;
  item->uses++;
  item->sender = worker->number;
  switch (place) {
  case IN_STACK:
    CHECK_EQUAL(relock_stack_push(&stack, &item->node), 0);
    break;
  case IN_QUEUE:
    item->number = ++worker->sent[0];
    CHECK_EQUAL(relock_queue_enqueue(&queue, &item->node), 0);
    break;
  case IN_TWO_LOCK_QUEUE:
    item->number = ++worker->sent[1];
    CHECK_EQUAL(relock_two_lock_queue_enqueue(&two_lock_queue,
                                              worker->value_node[--worker->value_nodes], item),
                0);
    break;
  case HELD:
    break;
  }
}

static void take_item(struct worker *worker, enum place place) {
  struct item *item = NULL;
  if (worker->items == MOST_ITEMS || worker->value_nodes == MOST_ITEMS)
    return;
  if (place == IN_TWO_LOCK_QUEUE) {
    void *value = NULL;
    relock_value_node_t *node = relock_two_lock_queue_dequeue(&two_lock_queue, &value);
    item = value;
    CHECK_EQUAL(node != NULL, item != NULL);
    if (node) {
      memset(node, 0x55, sizeof *node);
      worker->value_node[worker->value_nodes++] = node;
    }
  } else {
    item = (struct item *)(place == IN_STACK ? relock_stack_pop(&stack)
                                             : relock_queue_dequeue(&queue));
  }
  if (!item)
    return;
  CHECK_EQUAL(item->place, place);
  item->place = HELD;
  item->uses++;
  if (place != IN_STACK) { /* one thread gets another one's items in their order */
    uint64_t *seen = &worker->seen[place == IN_TWO_LOCK_QUEUE][item->sender];
    CHECK(item->number > *seen);
    *seen = item->number;
  }
  memset(&item->node, 0x55, sizeof item->node);
  worker->item[worker->items++] = item;
}

/* --- the map --------------------------------------------------------------------------------- */

static uint64_t hash_key(const void *key) {
  const struct key *of = key;
  return (uint64_t)(of->thread * KEYS + of->number);
}
static int equal_keys(const void *key, const void *other) {
  return memcmp(key, other, sizeof(struct key)) == 0;
}

/* A thread's own key gives what it has put there; another one's its owner, or nothing. */
static void get_key(struct worker *worker, int thread, int number) {
  const struct key key = {thread, number};
  void *value = NULL;
  const int error = relock_map_get(&map, &key, &value);
  CHECK(error == (value ? 0 : ENOENT));
  if (thread == worker->number) {
    const int which = worker->in_map[number];
    CHECK(value == (which < 0 ? NULL : &worker->map_node[number][which]));
  } else if (value) {
    CHECK(value == &workers[thread].map_node[number][0] ||
          value == &workers[thread].map_node[number][1]);
  }
}

static void put_key(struct worker *worker, int number) {
  const int before = worker->in_map[number], which = before == 0;
  relock_map_node_t *node = &worker->map_node[number][which], *replaced;
  *node = (relock_map_node_t){.key = &keys[worker->number][number], .value = node};
  CHECK_EQUAL(relock_map_put(&map, node, &replaced), 0);
  CHECK(replaced == (before < 0 ? NULL : &worker->map_node[number][before]));
  if (replaced)
    memset(replaced, 0x55, sizeof *replaced);
  worker->in_map[number] = which;
}

static void remove_key(struct worker *worker, int number) {
  const int which = worker->in_map[number];
  relock_map_node_t *removed = relock_map_remove(&map, &keys[worker->number][number]);
  CHECK(removed == (which < 0 ? NULL : &worker->map_node[number][which]));
  if (removed)
    memset(removed, 0x55, sizeof *removed);
  worker->in_map[number] = -1;
}

/* --------------------------------------------------------------------------------------------- */

static void operate(struct worker *worker) {
  const uint64_t random = next_random(&worker->random);
  const enum place place = IN_STACK + (enum place)(random >> 8 & 0xff) % 3;
  const int number = (int)(random >> 16 & (KEYS - 1));
  worker->operations++;
  switch (random % 8) {
  case 0:
    worker->added += random >> 20 & 7;
    const uint64_t before = relock_counter_add(&counter, random >> 20 & 7);
    CHECK(before >= worker->counted); /* no addend is negative */
    worker->counted = before;
    break;
  case 1:
    CHECK(relock_counter_read(&counter) >= worker->counted);
    break;
  case 2:
  case 3:
    put_item(worker, place);
    break;
  case 4:
  case 5:
    take_item(worker, place);
    break;
  case 6:
    get_key(worker, (int)(random >> 24) % threads, number);
    get_key(worker, worker->number, number);
    break;
  case 7:
    if (random >> 24 & 1)
      put_key(worker, number);
    else
      remove_key(worker, number);
    break;
  }
}

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->random = (seed + (uint64_t)worker->number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  pthread_barrier_wait(&line_up);
  while (check_seconds() < stop_at)
    for (int i = 0; i < 64; i++)
      operate(worker);
  return NULL;
}

static void watchdog(int unused) {
  (void)unused;
  char text[100];
  int length = snprintf(text, sizeof text, "containers-torture: no end in time; seed %llu\n",
                        (unsigned long long)seed);
  _exit(write(2, text, (size_t)length) < 0 ? 4 : 3);
}

static void set_up(void) {
  CHECK_EQUAL(relock_counter_init(&counter, &lock_class, 0), 0);
  CHECK_EQUAL(relock_stack_init(&stack, &lock_class), 0);
  CHECK_EQUAL(relock_queue_init(&queue, &lock_class), 0);
  CHECK_EQUAL(relock_two_lock_queue_init(&two_lock_queue, &lock_class, &other_class,
                                         &value_nodes[MAX_THREADS * ITEMS]),
              0);
  CHECK_EQUAL(
      relock_map_init(&map, &other_class, parts, PARTS, buckets, BUCKETS, hash_key, equal_keys), 0);
  CHECK_EQUAL(relock_map_spread(&map, 2), 0);
  for (int i = 0; i < threads; i++) {
    struct worker *worker = &workers[i];
    worker->number = i;
    for (int k = 0; k < ITEMS; k++) {
      worker->item[worker->items++] = &items[i][k];
      worker->value_node[worker->value_nodes++] = &value_nodes[i * ITEMS + k];
    }
    for (int k = 0; k < KEYS; k++) {
      keys[i][k] = (struct key){i, k};
      worker->in_map[k] = -1;
    }
  }
}

/* What is left in the containers, and what threads have, is all that there was. */
static void tear_down(void) {
  struct worker *all = &workers[0];
  int held = 0, nodes = 0, in_map = 0;
  long uses = 0, operations = 0, fewest = workers[0].operations;
  uint64_t added = 0;
  for (int i = 0; i < threads; i++) {
    held += workers[i].items;
    nodes += workers[i].value_nodes;
    added += workers[i].added;
    operations += workers[i].operations;
    fewest = workers[i].operations < fewest ? workers[i].operations : fewest;
    for (int k = 0; k < KEYS; k++)
      in_map += workers[i].in_map[k] >= 0;
  }
  for (enum place place = IN_STACK; place <= IN_TWO_LOCK_QUEUE; place++)
    do {
      all->items = all->value_nodes = 0;
      take_item(all, place);
      held += all->items;
      nodes += all->value_nodes;
    } while (all->items);
  CHECK_EQUAL(held, threads * ITEMS);
  CHECK_EQUAL(nodes, threads * ITEMS);
  for (int i = 0; i < threads; i++)
    for (int k = 0; k < ITEMS; k++) {
      CHECK_EQUAL(items[i][k].place, HELD);
      uses += items[i][k].uses;
    }
  CHECK(relock_counter_read(&counter) == added);
  CHECK_EQUAL(relock_map_destroy(&map), in_map ? EBUSY : 0);
  for (relock_map_node_t *at = relock_map_clear(&map); at; at = relock_map_next(at))
    in_map--;
  CHECK_EQUAL(in_map, 0);
  relock_value_node_t *dummy;
  CHECK_EQUAL(relock_map_destroy(&map), 0);
  CHECK_EQUAL(relock_two_lock_queue_destroy(&two_lock_queue, &dummy), 0);
  CHECK_EQUAL(relock_queue_destroy(&queue), 0);
  CHECK_EQUAL(relock_stack_destroy(&stack), 0);
  CHECK_EQUAL(relock_counter_destroy(&counter), 0);
  printf("exact: %ld operations, %ld of items, the slowest thread did %ld\n", operations, uses,
         fewest);
}

int main(int argc, char **argv) {
  int seconds = 3;
  threads = 32;
  seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
  for (int option; (option = getopt(argc, argv, "s:t:S:")) != -1;) {
    if (option == 's')
      seconds = atoi(optarg);
    else if (option == 't')
      threads = atoi(optarg);
    else if (option == 'S')
      seed = strtoull(optarg, NULL, 10);
    else
      optind = argc;
  }
  if (optind + 1 != argc || seconds < 1 || threads < 1 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: containers-torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED]\n");
    return 2;
  }
  printf("containers-torture %s: seed %llu, %d threads, %d s\n", argv[optind],
         (unsigned long long)seed, threads, seconds);
  fflush(stdout);
  signal(SIGALRM, watchdog);
  alarm((unsigned)(seconds + PATIENCE_SECONDS));
  lock_class.algorithm = other_class.algorithm = argv[optind];
  set_up();
  CHECK_EQUAL(pthread_barrier_init(&line_up, NULL, (unsigned)threads + 1), 0);
  pthread_t thread[MAX_THREADS];
  for (int i = 0; i < threads; i++)
    thread[i] = check_start(work, &workers[i]);
  stop_at = check_seconds() + seconds;
  pthread_barrier_wait(&line_up);
  for (int i = 0; i < threads; i++)
    check_join(thread[i]);
  tear_down();
  return 0;
}
