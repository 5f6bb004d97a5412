/* SPDX-License-Identifier: MIT
 *
 * The search of J. M. Wing and C. Gong, "Testing and verifying concurrent objects" (1993): of the
 * operations that are left, each may be the next that was called before any other of them has
 * returned; whether it can be, the sequential object says. With what G. Lowe adds, "Testing for
 * linearizability" (2017): the same operations done, with the same object, are not gone into twice.
 */
#include "linearize.h"

#include <stdlib.h>
#include <string.h>

/* The sequential object. What is not in use is 0, so that objects can be compared by their bytes.
 */
struct state {
  uint64_t held; /* of a stack or queue */
  int32_t value[MAX_OPERATIONS];
};

struct configuration {
  uint64_t done[MAX_OPERATIONS / 64];
  struct state state;
};

/* Does the operation if that gives its result. */
static bool apply(enum object object, struct state *state, const struct operation *operation) {
  int32_t *at = &state->value[operation->key];
  switch (object) {
  case COUNTER:
    if (operation->result != *at)
      return false;
    *at += operation->call == INSERT ? operation->value : 0;
    return true;
  case MAP: /* what is in it is one more than its value */
    if (operation->result != *at - 1)
      return false;
    if (operation->call != LOOK)
      *at = operation->call == INSERT ? operation->value + 1 : 0;
    return true;
  case STACK:
  case QUEUE:
    if (operation->call == INSERT) {
      state->value[state->held++] = operation->value;
      return true;
    }
    if (state->held == 0)
      return operation->result == NOTHING;
    at = &state->value[object == QUEUE ? 0 : state->held - 1];
    if (operation->result != *at)
      return false;
    state->held--;
    if (object == QUEUE)
      memmove(at, at + 1, state->held * sizeof *at);
    state->value[state->held] = 0;
    return true;
  }
  return false;
}

/* --- what has been gone into: a hash table ---------------------------------------------------- */

static struct {
  struct configuration *entry;
  uint64_t *search; /* the number of the search that an entry is of; others are free */
  size_t size, used;
} seen;
static uint64_t searches;

static uint64_t hash_of(const struct configuration *configuration) {
  uint64_t words[sizeof *configuration / sizeof(uint64_t)], hash = 0;
  memcpy(words, configuration, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15), hash ^= hash >> 32;
  return hash;
}

/* True: it was not there. */
static bool add(const struct configuration *configuration) {
  size_t at = hash_of(configuration) & (seen.size - 1);
  for (; seen.search[at] == searches; at = (at + 1) & (seen.size - 1))
    if (memcmp(&seen.entry[at], configuration, sizeof *configuration) == 0)
      return false;
  seen.entry[at] = *configuration;
  seen.search[at] = searches;
  seen.used++;
  return true;
}

static void grow(void) {
  struct configuration *entry = seen.entry;
  uint64_t *search = seen.search;
  const size_t size = seen.size;
  seen.size = size ? 2 * size : 1024;
  seen.used = 0;
  seen.entry = malloc(seen.size * sizeof *seen.entry);
  seen.search = calloc(seen.size, sizeof *seen.search);
  if (!seen.entry || !seen.search) {
    fputs("linearize: no memory: the history has too many operations at the same time\n", stderr);
    exit(1);
  }
  for (size_t i = 0; i < size; i++)
    if (search[i] == searches)
      add(&entry[i]);
  free(entry);
  free(search);
}

static bool is_new(const struct configuration *configuration) {
  if (2 * seen.used >= seen.size)
    grow();
  return add(configuration);
}

/* --- the search ------------------------------------------------------------------------------ */

static const struct operation *sorted[MAX_OPERATIONS]; /* by their calls */
static unsigned operations_now;
static enum object object_now;

static bool is_done(const struct configuration *configuration, unsigned i) {
  return configuration->done[i / 64] >> (i % 64) & 1;
}

static bool search(const struct configuration *configuration) {
  uint32_t first_return = UINT32_MAX;
  if (!is_new(configuration))
    return false;
  for (unsigned i = 0; i < operations_now; i++)
    if (!is_done(configuration, i) && sorted[i]->returned < first_return)
      first_return = sorted[i]->returned;
  if (first_return == UINT32_MAX)
    return true;
  for (unsigned i = 0; i < operations_now && sorted[i]->called < first_return; i++) {
    struct configuration next = *configuration;
    next.done[i / 64] |= UINT64_C(1) << (i % 64);
    if (!is_done(configuration, i) && apply(object_now, &next.state, sorted[i]) && search(&next))
      return true;
  }
  return false;
}

static int by_call(const void *one, const void *other) {
  const struct operation *const *a = one, *const *b = other;
  return (*a)->called < (*b)->called ? -1 : 1;
}

static void sort(const struct operation *operations, unsigned count) {
  if (count > MAX_OPERATIONS) {
    fprintf(stderr, "linearize: %u operations are more than %d\n", count, MAX_OPERATIONS);
    exit(1);
  }
  for (unsigned i = 0; i < count; i++)
    sorted[i] = &operations[i];
  qsort(sorted, count, sizeof *sorted, by_call);
  operations_now = count;
}

bool linearizable(enum object object, const struct operation *operations, unsigned count) {
  struct configuration start;
  memset(&start, 0, sizeof start);
  sort(operations, count);
  object_now = object;
  searches++;
  seen.used = 0;
  return search(&start);
}

void print_history(FILE *file, enum object object, const struct operation *operations,
                   unsigned count) {
  static const char *const names[][3] = {[COUNTER] = {"add", "", "read"},
                                         [STACK] = {"push", "pop", ""},
                                         [QUEUE] = {"enqueue", "dequeue", ""},
                                         [MAP] = {"put", "remove", "get"}};
  sort(operations, count);
  for (unsigned i = 0; i < count; i++) {
    const struct operation *operation = sorted[i];
    fprintf(file, "  [%u, %u] thread %d: %s", operation->called, operation->returned,
            operation->thread, names[object][operation->call]);
    if (object == MAP)
      fprintf(file, " key %d", operation->key);
    if (operation->call == INSERT)
      fprintf(file, " %d", operation->value);
    if (operation->call != INSERT || object == COUNTER || object == MAP)
      fprintf(file, operation->result == NOTHING ? " -> nothing" : " -> %d", operation->result);
    fputc('\n', file);
  }
}
