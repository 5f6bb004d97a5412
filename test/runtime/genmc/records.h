/* SPDX-License-Identifier: MIT
 *
 * What the checked sources want of the rooms around them, as little as they need: the records of
 * the threads and their nodes (base/thread.c, which GenMC cannot have: it knows no
 * pthread_key_create()), thresholds, the default class, statistics that count nothing.
 */
#ifndef RELOCK_GENMC_RECORDS_H
#define RELOCK_GENMC_RECORDS_H

#include "seams.h"

#include "base/class.h"
#include "base/options.h"
#include "base/request.h"
#include "base/thread.h"
#include "base/wait.h"
#include "base/word.h"
#include "locks/section.h"

/* --- base/thread.c --------------------------------------------------------------------------- */

enum { NODES = 3 }; /* of each thread */

__thread struct relock_thread *relock_own_record;
static struct relock_thread records[THREADS_AT_MOST];
static struct relock_request nodes[THREADS_AT_MOST * NODES];

struct relock_thread *relock_thread_start(void) {
  assert(!"a thread without a record");
  return NULL;
}

struct relock_thread *relock_thread_numbered(uint32_t number) { return &records[number]; }
uint32_t relock_threads_live(void) { return 0; } /* no more than processors: nobody yields */

bool relock_thread_has_room(const struct relock_thread *self,
                            const struct relock_request *request) {
  (void)self;
  (void)request;
  return true;
}

/* As there: a node that is given back is written to, so that a late look at it is a data race. */
struct relock_request *relock_node_take(struct relock_thread *self) {
  struct relock_request *node = self->spares;
  assert(node);
  self->spares = node->next;
  return node;
}

void relock_node_give(struct relock_thread *self, struct relock_request *node) {
  node->next = self->spares;
  self->spares = node;
}

/* --- the rest -------------------------------------------------------------------------------- */

struct relock_tuning relock_tuning = {
#define RELOCK_TUNABLE(name, value, least, greatest) value,
#include "base/tunables.def"
};

relock_class_t relock_default_class;

void relock_stats_count(struct relock_thread *self, uint32_t index, enum relock_counter counter,
                        uint64_t amount) {
  (void)self;
  (void)index;
  (void)counter;
  (void)amount;
}

static void prepare_record(unsigned number) {
  struct relock_thread *record = &records[number];
  record->number = number;
  record->tag = (uint16_t)(number + 1);
  record->turn_waits = 1000; /* never looks whether its turn is over */
  record->watched = true;
  relock_mark(record, false);
  for (unsigned i = 0; i < NODES; i++)
    relock_node_give(record, &nodes[number * NODES + i]);
}

static void prepare_records(unsigned count) {
  for (unsigned i = 0; i < count; i++)
    prepare_record(i);
}

/* --- what the kernel reads ------------------------------------------------------------------- */

static bool is_in(const void *object, size_t size, const void *address) {
  return (uintptr_t)address - (uintptr_t)object < size;
}

/* Words that are not in lines of one thread meet in the first bucket. */
static pthread_mutex_t *bucket_of(const uint32_t *word) {
  for (unsigned i = 0; i < THREADS_AT_MOST; i++)
    if (is_in(&records[i], sizeof records[i], word) ||
        is_in(&nodes[i * NODES], NODES * sizeof *nodes, word))
      return &buckets[i + 1];
  return &buckets[0];
}

/* GenMC has no accesses of several sizes to one object; the futex of a link is its lower half. Only
 * lines of records have one: a combiner of ccqueue.h waits for no link. */
static bool is_link(const uint32_t *word) {
  const uintptr_t offset = (uintptr_t)word - (uintptr_t)records;
  return offset < sizeof records &&
         offset % sizeof(struct relock_request) == offsetof(struct relock_request, next);
}

static uint32_t value_of(uint32_t *word) {
  return is_link(word) ? (uint32_t)relock_load_relaxed((uintptr_t *)word)
                       : relock_load_relaxed(word);
}

#endif
