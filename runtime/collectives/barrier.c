/* SPDX-License-Identifier: MIT
 *
 * Barriers: what is called, where their nodes come from, and which algorithm a barrier has. See
 * barrier.h for states and invariants.
 */
#define _GNU_SOURCE
#include "barrier.h"

#include "../base/annotate.h"
#include "../base/guard.h"
#include "../base/options.h"
#include "../base/os.h"
#include "../base/panic.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Nothing calls process/ by name, which stands above this room. A program that is linked statically
 * gets it by this, as by mutex/choice.c: the guard of the nodes that are free is to pass a fork. */
extern const char relock_process_is_linked RELOCK_HIDDEN;
__attribute__((used)) static const char *const process = &relock_process_is_linked;

/* --- waiting --------------------------------------------------------------------------------- */

enum { ASLEEP = 1 }; /* of `released` */

/* A thread that sleeps needs so many spinning times until it runs again, and a waker some for each:
 * whoever spins for less finds itself waiting for one that was asleep, sleeps, and keeps the next
 * one waiting. Of a virtual machine, see sim/machines; a guess for others. */
enum { WAKE_UP = 25, WAKING = 2 };

/* Spinning in vain costs as much again as sleeping, many times that where threads share a
 * processor with another program. Then a thread does without for twice as many waits as before;
 * with the last of these numbers it is a few percent. */
enum { MOST_SKIPS = 1023 };
static __thread uint32_t skips __attribute__((tls_model("initial-exec"))); /* left */
static __thread uint32_t last_skips __attribute__((tls_model("initial-exec")));

static uint32_t spins_now(uint32_t count) {
  const uint32_t spins = relock_wait_spins_for(count);
  if (spins == 0 || skips == 0)
    return spins * (WAKE_UP + WAKING * count);
  skips--;
  return 0;
}

static void spun_in_vain(void) {
  last_skips = last_skips < MOST_SKIPS ? 2 * last_skips + 1 : MOST_SKIPS;
  skips = last_skips;
}

void relock_barrier_await(uint32_t *released, uint32_t end, uint32_t count) {
  struct relock_wait wait;
  bool waits = false, spins = false;
  for (;;) {
    /* Acquire: pairs with the release in relock_barrier_release(). */
    const uint32_t found = relock_load_acquire(released);
    if (relock_barrier_is_over(found, end))
      break;
    if (!waits) {
      relock_wait_begin(&wait, NULL, NULL);
      wait.spins = spins_now(count);
      spins = wait.spins > 0;
      waits = true;
    }
    if (relock_wait_again(&wait))
      continue;
    if (spins)
      spun_in_vain();
    spins = false;
    if (found & ASLEEP || relock_cas_relaxed(released, found, found | ASLEEP))
      relock_wait_park(&wait, released, found | ASLEEP, CLOCK_MONOTONIC, NULL);
  }
  if (spins)
    last_skips = 0;
}

void relock_barrier_release(uint32_t *released, uint32_t found, uint32_t end) {
  /* Without a look, which would bring the line twice. */
  /* Release: pairs with the acquire in relock_barrier_await(). */
  while (!relock_cas_release(released, found, end)) {
    found = relock_load_relaxed(released);
    if (relock_barrier_is_over(found, end))
      return;
  }
  if (RELOCK_UNLIKELY(found & ASLEEP))
    relock_os->futex_wake(released, INT_MAX);
}

enum { TRANSFERS = 40 }; /* of a cache line, while anybody spins. A guess. */

void relock_barrier_back_off(uint32_t missing, uint32_t count) {
  for (uint32_t left = relock_wait_spins_for(count) * missing / TRANSFERS; left > 0;)
    left -= relock_pauses(left);
}

/* --- nodes and places ------------------------------------------------------------------------ */

/* Those that are free, by their number of lines, a power of two. What was nodes will be nodes.
 * Guarded by RELOCK_GUARD_BARRIERS. */
enum kind { NODES, PLACES, KINDS };
enum { SIZES = 19, TOGETHER = 4096 };
static struct relock_barrier_line *free_lines[KINDS][SIZES];
_Static_assert(1 << (SIZES - 1) == RELOCK_MOST_LINES &&
                   RELOCK_MOST_LINES >= 2 * RELOCK_BARRIER_MOST,
               "the largest has its list");

static uint32_t size_class(uint32_t lines) {
  uint32_t size = 0;
  while (1u << size < lines)
    size++;
  return size;
}

static void put(struct relock_barrier_line *lines, enum kind kind, uint32_t size) {
  lines->next_free = free_lines[kind][size];
  free_lines[kind][size] = lines;
}

/* Under the guard. Null: no memory. */
static struct relock_barrier_line *reserve(enum kind kind, uint32_t size) {
  const uint32_t number = 1u << size, least = TOGETHER / RELOCK_CACHE_LINE;
  const uint32_t all = number < least ? least : number;
  struct relock_barrier_line *lines = relock_os->reserve(all * sizeof *lines);
  if (lines && relock_is_watched())
    relock_annotate_own(lines, all * sizeof *lines);
  for (uint32_t i = number; lines && i < all; i += number)
    put(lines + i, kind, size);
  return lines;
}

/* Null: no memory. */
static struct relock_barrier_line *take_lines(enum kind kind, uint32_t number) {
  const uint32_t size = size_class(number);
  if (relock_is_watched())
    relock_annotate_own(free_lines, sizeof free_lines);
  relock_guard_take(RELOCK_GUARD_BARRIERS);
  struct relock_barrier_line *lines = free_lines[kind][size];
  if (lines)
    free_lines[kind][size] = lines->next_free;
  else
    lines = reserve(kind, size);
  relock_guard_release(RELOCK_GUARD_BARRIERS);
  return lines;
}

static void give_lines(struct relock_barrier_line *lines, enum kind kind, uint32_t number) {
  relock_guard_take(RELOCK_GUARD_BARRIERS);
  put(lines, kind, size_class(number));
  relock_guard_release(RELOCK_GUARD_BARRIERS);
}

struct relock_barrier_line *relock_barrier_take_lines(uint32_t number) {
  return take_lines(PLACES, number);
}
void relock_barrier_give_lines(struct relock_barrier_line *lines, uint32_t number) {
  give_lines(lines, PLACES, number);
}

static uint32_t lines_of(uint32_t nodes) {
  return nodes * (uint32_t)(sizeof(struct relock_barrier_node) / RELOCK_CACHE_LINE);
}

/* False: no memory. */
static bool take_memory(relock_barrier_t *barrier, uint32_t nodes, uint32_t places) {
  struct relock_barrier_line *taken = take_lines(NODES, lines_of(nodes));
  barrier->relock_private.nodes = (struct relock_barrier_node *)taken;
  barrier->relock_private.places = taken && places > 0 ? take_lines(PLACES, places) : NULL;
  if (taken && places > 0 && !barrier->relock_private.places) {
    give_lines(taken, NODES, lines_of(nodes));
    return false;
  }
  return taken != NULL;
}

static void give_memory(const relock_barrier_t *barrier, uint32_t nodes, uint32_t places) {
  if (places > 0)
    give_lines(barrier->relock_private.places, PLACES, places);
  give_lines(&barrier->relock_private.nodes->line, NODES, lines_of(nodes));
}

/* The latest round of any node: of the root. */
static uint32_t latest_round(const struct relock_barrier_node *nodes, uint32_t count) {
  uint32_t latest = relock_load_relaxed(&nodes[0].released);
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t released = relock_load_relaxed(&nodes[i].released);
    if (relock_barrier_is_over(released, latest))
      latest = released;
  }
  return latest & -RELOCK_BARRIER_ROUND;
}

/* --- which algorithm ------------------------------------------------------------------------- */

static const struct relock_barrier_algorithm *const algorithms[] = {
#define RELOCK_BARRIER_ALGORITHM(name) &relock_barrier_##name,
#include "barriers.def"
};
const char relock_barrier_algorithms[] =
#define RELOCK_BARRIER_ALGORITHM(name) " " #name
#include "barriers.def"
    ;
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static uint32_t chosen; /* its place and one more; 0: none */
static uint32_t options_read;

bool relock_barrier_choose(const char *name) {
  uint32_t found = 0;
  for (uint32_t i = 0; name && i < ALGORITHMS; i++)
    if (strcmp(algorithms[i]->name, name) == 0)
      found = i + 1;
  relock_store_relaxed(&chosen, found);
  return !name || found > 0;
}

void relock_barrier_options_read(void) {
  if (relock_load_relaxed(&options_read))
    return;
  const char *name = secure_getenv("RELOCK_BARRIER");
  if (name && *name && !relock_barrier_choose(name))
    relock_usage_error("RELOCK_BARRIER: unknown algorithm '%s'; the algorithms are:%s", name,
                       relock_barrier_algorithms);
  relock_store_relaxed(&options_read, 1);
}

/* From so many threads on a tree is faster on the simulated machines, see doc/collectives.md. Where
 * not all can run at once those who sleep in its leaves would wait for others to be woken first. */
enum { TREE_FROM = 16 };

static const struct relock_barrier_algorithm *algorithm_for(uint32_t count) {
  if (relock_is_watched())
    return &relock_barrier_watched;
  relock_barrier_options_read();
  const uint32_t place = relock_load_relaxed(&chosen);
  if (count > RELOCK_BARRIER_MOST)
    return &relock_barrier_central;
  if (place > 0)
    return algorithms[place - 1];
  return count >= TREE_FROM && relock_wait_spins_for(count) > 0 ? &relock_barrier_tree
                                                                : &relock_barrier_central;
}

/* --- what is called -------------------------------------------------------------------------- */

static const struct relock_barrier_listener *listener; /* null: nobody */

void relock_barriers_heard_by(const struct relock_barrier_listener *profiler) {
  listener = profiler;
}

int relock_barrier_init(relock_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                        unsigned count) {
  int shared = PTHREAD_PROCESS_PRIVATE;
  if (attributes && pthread_barrierattr_getpshared(attributes, &shared) != 0)
    return EINVAL;
  if (count == 0 || count > INT_MAX)
    return EINVAL;
  if (shared != PTHREAD_PROCESS_PRIVATE)
    return ENOTSUP;
  const struct relock_barrier_algorithm *algorithm = algorithm_for(count);
  const uint32_t nodes = algorithm->nodes(count);
  if (!take_memory(barrier, nodes, algorithm->places(count)))
    return ENOMEM;
  barrier->relock_private.count = count;
  barrier->relock_private.first = latest_round(barrier->relock_private.nodes, nodes);
  for (uint32_t i = 0; i < nodes; i++)
    relock_store_relaxed(&barrier->relock_private.nodes[i].released, barrier->relock_private.first);
  algorithm->set_up(barrier);
  barrier->relock_private.algorithm = algorithm;
  if (RELOCK_UNLIKELY(listener != NULL))
    listener->initialised(barrier);
  return 0;
}

static int wait_in(void *object) {
  const relock_barrier_t *barrier = object;
  return barrier->relock_private.algorithm->wait(barrier) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int relock_barrier_wait(relock_barrier_t *barrier) {
  if (!barrier->relock_private.algorithm)
    return EINVAL;
  if (RELOCK_LIKELY(!listener))
    return wait_in(barrier);
  const int result = listener->waits(barrier, wait_in);
  relock_keep_order(); /* no tail call: it looks at who called this function */
  return result;
}

int relock_barrier_destroy(relock_barrier_t *barrier) {
  const struct relock_barrier_algorithm *algorithm = barrier->relock_private.algorithm;
  if (!algorithm)
    return EINVAL;
  if (algorithm->is_busy(barrier))
    return EBUSY;
  struct relock_barrier_node *nodes = barrier->relock_private.nodes;
  const uint32_t count = barrier->relock_private.count, number = algorithm->nodes(count);
  const uint32_t end = latest_round(nodes, number);
  for (uint32_t i = 0; i < number; i++)
    relock_barrier_await(&nodes[i].released, end, count);
  barrier->relock_private.algorithm = NULL;
  give_memory(barrier, number, algorithm->places(count));
  if (RELOCK_UNLIKELY(listener != NULL))
    listener->destroyed(barrier);
  return 0;
}
