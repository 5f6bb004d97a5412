/* SPDX-License-Identifier: MIT
 *
 * --containers: what threads get done that share a container (relock/containers.h), by each
 * algorithm; with the same container under the C library's mutexes; without locks; and somebody
 * else's (other.h). In turns, as ratios to the C library's of the same repetition. A thread adds,
 * or puts in and takes out in turns, as on the simulated machine (sim/load_containers.h); on a map
 * it looks up four times for each time that it puts in or takes out.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "lock_free.h"
#include "ratio.h"

#include "../locks/algorithm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = LOCK_FREE_LINE, MOST_ROWS = 64, MOST_REPETITIONS = 1000 };
enum { KEYS = 1024, LOOK_UPS = 4 }; /* of a map, which every second key is in at first */

/* Of a thread. */
struct user {
  _Alignas(LINE) uint64_t turn, random;
  uint64_t start, end; /* ns */
  relock_node_t *node; /* of a stack or a queue; the others below are of their containers */
  relock_value_node_t *value_node;
  relock_map_node_t *map_node; /* null: it is in the map */
  uint32_t number;             /* of its node without locks, from 1 on */
};

struct map_node {
  _Alignas(LINE) relock_map_node_t node;
};

/* As the containers', for the C library's mutexes. */
struct plain {
  _Alignas(LINE) pthread_mutex_t mutex;
  _Alignas(LINE) pthread_mutex_t enqueue_mutex; /* of two locks */
  _Alignas(LINE) uint64_t value;
  relock_node_t *first, *last;
  relock_map_node_t *buckets[KEYS];
  _Alignas(LINE) relock_value_node_t *value_first; /* the dummy */
  _Alignas(LINE) relock_value_node_t *value_last;
};

/* The class of a second lock is for the second server. */
struct kind {
  const char *name; /* of the algorithm, "pthread", "lock-free", or of the other */
  const struct relock_bench_container *other; /* somebody else's; null: it is none */
  relock_class_t classes[2];
  char algorithm[2][32];
};

typedef bool operation(struct user *user, bool take); /* false: there was nothing */

struct container {
  const char *name;
  operation *locked, *plain, *lock_free; /* null: there is none */
  uint64_t (*inside)(const struct kind *kind);
};

static struct {
  relock_counter_t counter;
  relock_stack_t stack;
  relock_queue_t queue;
  relock_two_lock_queue_t two_lock_queue;
  relock_map_t map;
  relock_map_part_t part;
  relock_map_node_t *buckets[KEYS];
  struct lock_free ends;
  struct plain plain;
  const struct relock_bench_container *other;
  void *made_by_other;
  _Alignas(LINE) int stop;
  _Alignas(LINE) operation *operate;
  int delay;
  pthread_barrier_t start;
} shared;

static struct user *users;
static struct any_node *nodes; /* one for each user, from 1 on, and a dummy */
static struct map_node *map_nodes;
static int user_count;
static struct kind kinds[MOST_ROWS];
static int kind_count;

static bool is_plain(const struct kind *kind) { return strcmp(kind->name, "pthread") == 0; }
static bool is_lock_free(const struct kind *kind) { return strcmp(kind->name, "lock-free") == 0; }

/* --- a counter ------------------------------------------------------------------------------- */

static bool add(struct user *user, bool take) {
  (void)user, (void)take;
  relock_counter_add(&shared.counter, 1);
  return true;
}

static bool add_plain(struct user *user, bool take) {
  (void)user, (void)take;
  pthread_mutex_lock(&shared.plain.mutex);
  shared.plain.value++;
  pthread_mutex_unlock(&shared.plain.mutex);
  return true;
}

static bool add_lock_free(struct user *user, bool take) {
  (void)user, (void)take;
  __atomic_fetch_add(&shared.ends.first, 1, __ATOMIC_SEQ_CST);
  return true;
}

static uint64_t inside_counter(const struct kind *kind) {
  return is_plain(kind)       ? shared.plain.value
         : is_lock_free(kind) ? shared.ends.first
                              : relock_counter_read(&shared.counter);
}

/* --- a stack --------------------------------------------------------------------------------- */

static bool use_stack(struct user *user, bool take) {
  if (!take)
    return relock_stack_push(&shared.stack, user->node) == 0;
  return (user->node = relock_stack_pop(&shared.stack)) != NULL;
}

/* NULL: it is empty. The caller has the mutex. */
static relock_node_t *pop_first(struct plain *plain) {
  relock_node_t *node = plain->first;
  plain->first = node ? node->relock_next : NULL;
  return node;
}

static bool use_plain_stack(struct user *user, bool take) {
  struct plain *plain = &shared.plain;
  pthread_mutex_lock(&plain->mutex);
  if (take) {
    user->node = pop_first(plain);
  } else {
    user->node->relock_next = plain->first;
    plain->first = user->node;
  }
  pthread_mutex_unlock(&plain->mutex);
  return user->node;
}

static bool use_lock_free_stack(struct user *user, bool take) {
  if (take)
    return (user->number = treiber_pop(&shared.ends, nodes)) != 0;
  treiber_push(&shared.ends, nodes, user->number);
  return true;
}

static uint64_t count_list(const relock_node_t *at) {
  uint64_t count = 0;
  for (; at; at = at->relock_next)
    count++;
  return count;
}

static uint64_t inside_stack(const struct kind *kind) {
  return is_plain(kind)       ? count_list(shared.plain.first)
         : is_lock_free(kind) ? count_nodes(nodes, shared.ends.first)
                              : count_list(shared.stack.relock_private.top);
}

/* --- a queue --------------------------------------------------------------------------------- */

static bool use_queue(struct user *user, bool take) {
  if (!take)
    return relock_queue_enqueue(&shared.queue, user->node) == 0;
  return (user->node = relock_queue_dequeue(&shared.queue)) != NULL;
}

static bool use_plain_queue(struct user *user, bool take) {
  struct plain *plain = &shared.plain;
  pthread_mutex_lock(&plain->mutex);
  if (take) {
    user->node = pop_first(plain);
  } else {
    user->node->relock_next = NULL;
    *(plain->first ? &plain->last->relock_next : &plain->first) = user->node;
    plain->last = user->node;
  }
  pthread_mutex_unlock(&plain->mutex);
  return user->node;
}

static bool use_lock_free_queue(struct user *user, bool take) {
  if (take)
    return (user->number = michael_scott_dequeue(&shared.ends, nodes)) != 0;
  michael_scott_enqueue(&shared.ends, nodes, user->number);
  return true;
}

static uint64_t inside_queue(const struct kind *kind) {
  return is_plain(kind)       ? count_list(shared.plain.first)
         : is_lock_free(kind) ? count_nodes(nodes, nodes[number_of(shared.ends.first)].next)
                              : count_list(shared.queue.relock_private.first);
}

/* --- a queue with two locks ------------------------------------------------------------------ */

static bool use_two_lock_queue(struct user *user, bool take) {
  relock_two_lock_queue_t *queue = &shared.two_lock_queue;
  void *value;
  if (!take)
    return relock_two_lock_queue_enqueue(queue, user->value_node, user) == 0;
  return (user->value_node = relock_two_lock_queue_dequeue(queue, &value)) != NULL;
}

/* The ends meet in the link of a dummy that is the last node, too. */
static bool use_plain_two_lock_queue(struct user *user, bool take) {
  struct plain *plain = &shared.plain;
  if (take) {
    pthread_mutex_lock(&plain->mutex);
    relock_value_node_t *dummy = plain->value_first;
    relock_value_node_t *next = __atomic_load_n(&dummy->relock_next, __ATOMIC_ACQUIRE);
    if (next) {
      (void)__atomic_load_n(&next->relock_value, __ATOMIC_RELAXED);
      plain->value_first = next;
    }
    pthread_mutex_unlock(&plain->mutex);
    user->value_node = dummy;
    return next;
  }
  user->value_node->relock_next = NULL;
  user->value_node->relock_value = user;
  pthread_mutex_lock(&plain->enqueue_mutex);
  __atomic_store_n(&plain->value_last->relock_next, user->value_node, __ATOMIC_RELEASE);
  plain->value_last = user->value_node;
  pthread_mutex_unlock(&plain->enqueue_mutex);
  return true;
}

static uint64_t inside_two_lock_queue(const struct kind *kind) {
  if (is_lock_free(kind))
    return inside_queue(kind);
  const relock_value_node_t *node =
      is_plain(kind) ? shared.plain.value_first : shared.two_lock_queue.relock_private.dummy;
  uint64_t count = 0;
  for (; node->relock_next; node = node->relock_next)
    count++;
  return count;
}

/* --- a map ----------------------------------------------------------------------------------- */

static uint64_t hash_key(const void *key) { return (uint64_t)(uintptr_t)key; }
static int equal_keys(const void *key, const void *other) { return key == other; }
static const void *key_of(uint64_t number) { return (const void *)(uintptr_t)number; }

static uint64_t next_random(struct user *user) {
  user->random ^= user->random << 13;
  user->random ^= user->random >> 7;
  user->random ^= user->random << 17;
  return user->random;
}

static bool use_map(struct user *user, bool take) {
  const uint64_t random = next_random(user);
  const void *key = key_of(random % KEYS);
  void *value;
  (void)take;
  if (random / KEYS % (LOOK_UPS + 1)) {
    relock_map_get(&shared.map, key, &value);
  } else if (user->map_node) {
    relock_map_node_t *node = user->map_node;
    node->key = key;
    relock_map_put(&shared.map, node, &user->map_node);
  } else {
    user->map_node = relock_map_remove(&shared.map, key);
  }
  return true;
}

static relock_map_node_t **find_plain(const void *key) {
  relock_map_node_t **at = &shared.plain.buckets[hash_key(key) % KEYS];
  while (*at && !equal_keys((*at)->key, key))
    at = &(*at)->relock_next;
  return at;
}

/* Puts the node in the place of one with its key, or removes that if there is no node. */
static void put_plain(struct user *user, const void *key) {
  relock_map_node_t *node = user->map_node, **at = find_plain(key), *found = *at;
  relock_map_node_t *after = found ? found->relock_next : NULL;
  if (node) {
    node->key = key;
    node->relock_next = after;
  }
  *at = node ? node : after;
  user->map_node = found;
}

static bool use_plain_map(struct user *user, bool take) {
  const uint64_t random = next_random(user);
  const void *key = key_of(random % KEYS);
  (void)take;
  pthread_mutex_lock(&shared.plain.mutex);
  if (random / KEYS % (LOOK_UPS + 1)) {
    const relock_map_node_t *node = *find_plain(key);
    if (node)
      (void)__atomic_load_n(&node->value, __ATOMIC_RELAXED);
  } else {
    put_plain(user, key);
  }
  pthread_mutex_unlock(&shared.plain.mutex);
  return true;
}

static uint64_t inside_map(const struct kind *kind) {
  uint64_t count = 0;
  for (int i = 0; i < KEYS; i++) {
    const relock_map_node_t *at = is_plain(kind) ? shared.plain.buckets[i] : shared.buckets[i];
    for (; at; at = at->relock_next)
      count++;
  }
  return count;
}

/* --- somebody else's ------------------------------------------------------------------------- */

static bool use_other(struct user *user, bool take) {
  return shared.other->use(shared.made_by_other, (int)user->number - 1, take) != 0;
}

static uint64_t left_inside(const struct container *container, const struct kind *kind) {
  return kind->other ? kind->other->inside(shared.made_by_other) : container->inside(kind);
}

/* --- one measurement ------------------------------------------------------------------------- */

static const struct container containers[] = {
    {"counter", add, add_plain, add_lock_free, inside_counter},
    {"stack", use_stack, use_plain_stack, use_lock_free_stack, inside_stack},
    {"queue", use_queue, use_plain_queue, use_lock_free_queue, inside_queue},
    {"queue-2", use_two_lock_queue, use_plain_two_lock_queue, NULL, inside_two_lock_queue},
    {"map", use_map, use_plain_map, NULL, inside_map},
};
enum { CONTAINERS = sizeof containers / sizeof *containers };

static void must(int error, const char *what) {
  if (error)
    fail(2, "%s: %s", what, strerror(error));
}

static void make_users(int threads) {
  const int dummy = threads + 1;
  user_count = threads;
  memset(users, 0, (size_t)threads * sizeof *users);
  memset(nodes, 0, ((size_t)threads + 2) * sizeof *nodes);
  memset(map_nodes, 0, ((size_t)threads + KEYS) * sizeof *map_nodes);
  for (int i = 0; i < threads; i++) {
    struct any_node *node = &nodes[1 + i];
    users[i] = (struct user){.random = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1),
                             .node = &node->node,
                             .value_node = &node->value_node,
                             .map_node = &map_nodes[KEYS + i].node,
                             .number = (uint32_t)(1 + i)};
  }
  memset(&shared.plain, 0, sizeof shared.plain);
  shared.plain.value_first = shared.plain.value_last = &nodes[dummy].value_node;
  must(pthread_mutex_init(&shared.plain.mutex, NULL), "mutex");
  must(pthread_mutex_init(&shared.plain.enqueue_mutex, NULL), "mutex");
  memset(&shared.ends, 0, sizeof shared.ends);
}

/* Every second key. */
static void fill_map(const struct kind *kind) {
  struct user filler = {0};
  for (int i = 0; i < KEYS; i += 2) {
    relock_map_node_t *replaced;
    filler.map_node = &map_nodes[i].node;
    filler.map_node->key = key_of((uint64_t)i);
    if (is_plain(kind))
      put_plain(&filler, key_of((uint64_t)i));
    else
      must(relock_map_put(&shared.map, filler.map_node, &replaced), "map");
  }
}

static void make_container(const struct container *container, struct kind *kind, int threads) {
  make_users(threads);
  if (kind->other) {
    shared.other = kind->other;
    shared.made_by_other = kind->other->create(threads);
    if (!shared.made_by_other)
      fail(2, "%s %s, %d threads: cannot be made", kind->name, container->name, threads);
    return;
  }
  if (container->lock_free && is_lock_free(kind)) {
    if (container->inside == inside_queue)
      shared.ends.first = shared.ends.last = (counted_t)(threads + 1);
    return;
  }
  if (!is_plain(kind)) {
    relock_class_t *lock_class = &kind->classes[0];
    must(relock_counter_init(&shared.counter, lock_class, 0), "counter");
    must(relock_stack_init(&shared.stack, lock_class), "stack");
    must(relock_queue_init(&shared.queue, lock_class), "queue");
    must(relock_two_lock_queue_init(&shared.two_lock_queue, lock_class, &kind->classes[1],
                                    &nodes[threads + 1].value_node),
         "queue");
    memset(shared.buckets, 0, sizeof shared.buckets);
    must(relock_map_init(&shared.map, lock_class, &shared.part, 1, shared.buckets, KEYS, hash_key,
                         equal_keys),
         "map");
  }
  fill_map(kind);
}

/* Whether what the operations have left is inside. */
static bool is_exact(const struct container *container, const struct kind *kind) {
  uint64_t operations = 0, inside = 0, spare = 0;
  for (int i = 0; i < user_count; i++) {
    operations += users[i].turn;
    inside += users[i].turn % 2;
    spare += users[i].map_node != NULL;
  }
  const uint64_t found = left_inside(container, kind);
  if (container->inside == inside_counter)
    return found == operations;
  if (container->inside == inside_map)
    return found + spare == KEYS / 2 + (uint64_t)user_count;
  return found == inside;
}

static void *work(void *argument) {
  struct user *user = argument;
  pthread_barrier_wait(&shared.start);
  user->start = now_ns();
  while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
    if (!shared.operate(user, user->turn % 2)) /* whoever takes has put something there */
      fail(3, "a container was empty that could not be");
    user->turn++;
    spend_cycles(shared.delay);
  }
  user->end = now_ns();
  return NULL;
}

/* Million operations per second, from the first thread's start to the last one's end. */
static double run_threads(int threads, int milliseconds) {
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  if (!thread)
    fail(2, "no memory");
  __atomic_store_n(&shared.stop, 0, __ATOMIC_RELAXED);
  must(pthread_barrier_init(&shared.start, NULL, (unsigned)threads + 1), "barrier");
  for (int i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, work, &users[i]) != 0)
      fail(2, "cannot start %d threads; look at `ulimit -u`", threads);
  pthread_barrier_wait(&shared.start);
  sleep_ms(milliseconds);
  __atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
  uint64_t operations = 0, begin = UINT64_MAX, end = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    operations += users[i].turn;
    begin = users[i].start < begin ? users[i].start : begin;
    end = users[i].end > end ? users[i].end : end;
  }
  pthread_barrier_destroy(&shared.start);
  free(thread);
  return (double)operations * 1e3 / (double)(end - begin);
}

static double measure_container(const struct container *container, struct kind *kind, int threads,
                                int milliseconds) {
  make_container(container, kind, threads);
  shared.operate = kind->other          ? use_other
                   : is_plain(kind)     ? container->plain
                   : is_lock_free(kind) ? container->lock_free
                                        : container->locked;
  const double rate = run_threads(threads, milliseconds);
  if (!is_exact(container, kind))
    fail(3, "%s %s, %d threads: an operation was lost, or done twice", kind->name, container->name,
         threads);
  if (kind->other)
    kind->other->destroy(shared.made_by_other);
  return rate;
}

/* --- all ------------------------------------------------------------------------------------- */

static void add_kind(const char *name, size_t length) {
  if (kind_count == MOST_ROWS)
    fail(2, "more than %d names of algorithms and others", MOST_ROWS - 2);
  struct kind *kind = &kinds[kind_count++];
  for (int i = 0; i < 2; i++) {
    snprintf(kind->algorithm[i], sizeof kind->algorithm[i], "%.*s", (int)length, name);
    kind->classes[i].name = "measured";
    kind->classes[i].algorithm = kind->algorithm[i];
  }
  kind->name = kind->algorithm[0];
}

/* Of the benchmark, one that somebody else's can stand beside: what a map is asked is ours. */
static bool is_known(const char *name) {
  for (int c = 0; c < CONTAINERS; c++)
    if (strcmp(containers[c].name, name) == 0)
      return containers[c].inside != inside_map;
  return false;
}

/* The first one is what the others are compared with. */
static void make_kinds(const struct options *options) {
  add_kind("pthread", sizeof "pthread");
  for (const char *at = options->locks; at;) {
    const size_t length = strcspn(at, ",");
    add_kind(at, length);
    struct kind *added = &kinds[kind_count - 1];
    if (!relock_algorithm_named(added->name))
      fail(2, "--algorithm: '%.*s' is no algorithm; there are %s", (int)length, at,
           relock_algorithms());
    if (strcmp(added->name, "rcl") == 0)
      strcpy(added->algorithm[1], "rcl:2"); /* a server for each end */
    at = at[length] ? at + length + 1 : NULL;
  }
  add_kind("lock-free", sizeof "lock-free");
  if (!options->other)
    return;
  for (const struct relock_bench_container *other =
           defined_by_other(options, "relock_bench_containers");
       other->name; other++) {
    if (!is_known(other->container))
      fail(2,
           "--other: %s: '%s' stands beside '%s', which is none of counter, stack, queue and "
           "queue-2",
           options->other, other->name, other->container);
    add_kind(other->name, strlen(other->name));
    kinds[kind_count - 1].other = other;
  }
}

static bool is_measured(const struct container *container, const struct kind *kind) {
  return kind->other ? strcmp(kind->other->container, container->name) == 0
                     : container->lock_free || !is_lock_free(kind);
}

static void print_kind(const char *name, const double *rates, const double *plain_rates,
                       int count) {
  double ratios[MOST_REPETITIONS], sorted[MOST_REPETITIONS];
  for (int i = 0; i < count; i++) {
    ratios[i] = rates[i] / plain_rates[i];
    sorted[i] = rates[i];
  }
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  const struct relock_bench_ratio ratio = relock_bench_ratio_of(ratios, count);
  printf("  %-15s %7.2f [%.2f-%.2f]   %5.2f   (%.2f to %.2f)\n", name, sorted[count / 2], sorted[0],
         sorted[count - 1], ratio.median, ratio.low, ratio.high);
}

static void compare_kinds(const struct options *options, const struct container *container,
                          int threads) {
  static double rates[MOST_ROWS][MOST_REPETITIONS];
  for (int i = 0; i < options->repetitions; i++)
    for (int k = 0; k < kind_count; k++) {
      const int turn = i % 2 ? kind_count - 1 - k : k;
      if (is_measured(container, &kinds[turn]))
        rates[turn][i] = measure_container(container, &kinds[turn], threads, options->milliseconds);
    }
  printf("%s, %d thread%s, million operations per second; as a multiple of pthread's, the median "
         "of %d and 95 %%\n",
         container->name, threads, threads == 1 ? "" : "s", options->repetitions);
  for (int k = 0; k < kind_count; k++)
    if (is_measured(container, &kinds[k]))
      print_kind(kinds[k].name, rates[k], rates[0], options->repetitions);
  print_flush();
}

static void allocate_users(const struct options *options) {
  int most = 1;
  for (int t = 0; t < options->thread_values; t++)
    most = options->threads[t] > most ? options->threads[t] : most;
  users = aligned_alloc(LINE, (size_t)most * sizeof *users);
  nodes = aligned_alloc(LINE, ((size_t)most + 2) * sizeof *nodes);
  map_nodes = aligned_alloc(LINE, ((size_t)most + KEYS) * sizeof *map_nodes);
  if (!users || !nodes || !map_nodes)
    fail(2, "no memory for %d threads", most);
}

void compare_containers(const struct options *options) {
  make_kinds(options);
  allocate_users(options);
  shared.delay = options->delays[0];
  print_machine(options, NULL, 0, 0);
  for (int c = 0; c < CONTAINERS; c++)
    for (int t = 0; t < options->thread_values; t++)
      compare_kinds(options, &containers[c], options->threads[t]);
}
