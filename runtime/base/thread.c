/* SPDX-License-Identifier: MIT
 *
 * Thread records and request lines.
 */
#include "thread.h"

#include "annotate.h"
#include "guard.h"
#include "options.h"
#include "os.h"
#include "request.h"
#include "signals.h"
#include "stack.h"
#include "word.h"

#include <pthread.h>
#include <string.h>

__thread struct relock_thread *relock_own_record;
static __thread bool ended; /* exit handlers have run: no record any more */
static __thread bool first; /* of its process, and the server is told when it ends */
static __thread uint32_t refused __attribute__((tls_model("initial-exec"))); /* RELOCK_REFUSED */

/* Guarded by RELOCK_GUARD_THREADS; these two are also read without it. */
enum { TOGETHER = 64 }; /* records that are reserved at a time */
struct relock_thread *relock_thread_records[RELOCK_MAX_THREADS / TOGETHER];
uint32_t relock_thread_records_end;
/* Guarded by it, too. */
static uint32_t first_free; /* number + 1 */
static struct relock_request *spare_nodes;
/* Waiters read it, so it has a line of its own. */
static struct {
  _Alignas(RELOCK_CACHE_LINE) uint32_t threads;
} live;
static pthread_key_t exit_key;
static bool has_key;

/* Where addresses were found, by their upper bits: a thread is mostly near the beginning of its
 * stack. */
enum { PLACES = 1024, PLACE_SHIFT = 16, NUMBER_BITS = 20 };
static uint64_t places[PLACES];
_Static_assert(RELOCK_MAX_THREADS <= 1 << NUMBER_BITS, "an entry has room for the number");

/* Not of a thread that has ended, whose memory may be gone, nor of one that has just begun. */
static bool is_on_stack(const struct relock_thread *record, uintptr_t address) {
  const uintptr_t end = relock_load_relaxed(&record->stack_end);
  return end && address - end < relock_load_relaxed(&record->stack);
}

static struct relock_thread *find_on_stack(uintptr_t address) {
  for (uint32_t i = 0; i < relock_threads_end(); i++)
    if (is_on_stack(relock_thread_numbered(i), address))
      return relock_thread_numbered(i);
  return NULL;
}

struct relock_thread *relock_thread_on_stack(uintptr_t address) {
  const uint64_t upper = address >> PLACE_SHIFT;
  uint64_t *place = &places[(uint32_t)(upper * 0x9e3779b97f4a7c15ull >> 32) % PLACES];
  const uint64_t last = relock_load_relaxed(place);
  const uint32_t number = (uint32_t)(last % (1 << NUMBER_BITS));
  if (last >> NUMBER_BITS == upper && is_on_stack(relock_thread_numbered(number), address))
    return relock_thread_numbered(number);
  struct relock_thread *record = find_on_stack(address);
  if (record) /* none is not remembered: a thread may begin there */
    relock_store_relaxed(place, upper << NUMBER_BITS | record->number);
  return record;
}

/* Where records were found, by their threads' ids. */
enum { IDS = 4096 };
static uint32_t number_of_id[IDS];

static void set_id(struct relock_thread *record) {
  const int tid = relock_os->thread_id();
  relock_store_relaxed(&record->tid, tid);
  relock_store_relaxed(&number_of_id[(uint32_t)tid % IDS], record->number);
}

static bool has_id(const struct relock_thread *record, int tid) {
  return relock_load_relaxed(&record->tid) == tid;
}

struct relock_thread *relock_thread_with_id(int tid) {
  const uint32_t last = relock_load_relaxed(&number_of_id[(uint32_t)tid % IDS]);
  const uint32_t threads = relock_threads_end();
  if (last < threads && has_id(relock_thread_numbered(last), tid))
    return relock_thread_numbered(last);
  for (uint32_t i = 0; i < threads; i++)
    if (has_id(relock_thread_numbered(i), tid))
      return relock_thread_numbered(i);
  return NULL;
}

static void give_back(struct relock_thread *record) {
  relock_store_relaxed(&record->stack_end, (uintptr_t)0);
  record->running = NULL; /* it may have ended in a section */
  relock_store_relaxed(&record->tid, 0);
  relock_store_relaxed(&record->runs_as, 0);
  relock_store_relaxed(&record->handlers, 0);
  while (record->spares) {
    struct relock_request *node = record->spares;
    record->spares = node->next;
    node->next = spare_nodes;
    spare_nodes = node;
  }
  record->spare_count = 0;
  record->next_free = first_free;
  first_free = record->number + 1;
  relock_count_own(&live.threads, -1);
}

static const struct relock_thread_life *life;

void relock_threads_tell(const struct relock_thread_life *who) { relock_store_relaxed(&life, who); }

/* The key's value in a first thread that has no record. */
static const char no_record;

static void thread_ends(void *value) {
  const struct relock_thread_life *told = relock_load_relaxed(&life);
  if (told && value != &no_record)
    told->ends(value);
  relock_own_record = NULL;
  ended = true;
  if (value != &no_record) {
    relock_guard_take(RELOCK_GUARD_THREADS);
    give_back(value);
    relock_guard_release(RELOCK_GUARD_THREADS);
  }
  if (told && first)
    told->first_ends();
}

/* Under the lock. */
static void make_key(void) {
  if (!has_key)
    has_key = pthread_key_create(&exit_key, thread_ends) == 0;
}

bool relock_first_thread_starts(void) {
  relock_guard_take(RELOCK_GUARD_THREADS);
  make_key();
  relock_guard_release(RELOCK_GUARD_THREADS);
  first = has_key && !ended;
  if (first && !relock_own_record)
    first = pthread_setspecific(exit_key, &no_record) == 0;
  return first;
}

/* Under the lock: one that no thread has had. Null: there is no room. */
static struct relock_thread *new_record(void) {
  if (relock_thread_records_end == RELOCK_MAX_THREADS)
    return NULL;
  struct relock_thread **some = &relock_thread_records[relock_thread_records_end / TOGETHER];
  if (!*some) /* Release: pairs with the acquire in relock_thread_numbered(). */
    relock_store_release(some, relock_os->reserve(TOGETHER * sizeof **some));
  if (!*some)
    return NULL;
  struct relock_thread *record = &(*some)[relock_thread_records_end % TOGETHER];
  if (relock_is_watched())
    relock_annotate_own(record, sizeof *record);
  record->number = relock_thread_records_end;
  record->tag =
      relock_thread_records_end < UINT16_MAX ? (uint16_t)(relock_thread_records_end + 1) : 0;
  /* Release: pairs with the acquire in relock_threads_end(). */
  relock_store_release(&relock_thread_records_end, relock_thread_records_end + 1);
  return record;
}

/* Under the lock. */
static struct relock_thread *take_record(void) {
  make_key();
  if (!has_key)
    return NULL;
  struct relock_thread *record;
  if (first_free) {
    record = relock_thread_numbered(first_free - 1);
    first_free = record->next_free;
  } else {
    record = new_record();
  }
  if (record)
    relock_count_own(&live.threads, 1);
  return record;
}

void relock_threads_annotate(void) {
  relock_annotate_own(relock_thread_records, sizeof relock_thread_records);
  relock_annotate_own(&relock_thread_records_end, sizeof relock_thread_records_end);
  relock_annotate_own(&first_free, sizeof first_free);
  relock_annotate_own(&live, sizeof live);
  relock_annotate_own(&spare_nodes, sizeof spare_nodes);
}

static struct relock_thread *ask_for_record(void) {
  relock_guard_take(RELOCK_GUARD_THREADS);
  struct relock_thread *record = take_record();
  relock_guard_release(RELOCK_GUARD_THREADS);
  refused = record ? 0 : RELOCK_REFUSED;
  return record;
}

static __attribute__((noinline)) struct relock_thread *begin(void) {
  struct relock_thread *record = ended ? NULL : ask_for_record();
  if (!record)
    return NULL;
  relock_store_relaxed(&record->thread_pointer, relock_thread_pointer());
  /* Until it is known: nobody else can run its sections. */
  relock_store_relaxed(&record->stack, SIZE_MAX);
  relock_mark(record, false);
  record->depth = 0;
  record->cluster_age = 0;
  set_id(record);
  record->asks = 0;
  record->slice = relock_tuning.slice ? relock_os->slice() : NULL;
  record->turn_waits = record->turn_step = record->turn_looks = 0;
  record->rcl_serves = NULL;
  record->rcl_number = 0;
  record->rcl_submitted = 0;
  record->rcl_settles = false;
  record->rcl_share = 0;
  record->watch = (struct relock_watch){0};
  record->running = NULL;
  record->waits = NULL;
  record->sleeps = NULL;
  record->watched = false;
  record->rcl_penalty = record->rcl_skip = record->rcl_patience = record->rcl_asks = 0;
  const struct relock_thread_life *told = relock_load_relaxed(&life);
  if (told)
    told->starts(record);
  relock_own_record = record; /* from here on, what allocates may use locks */
  size_t stack;
  uintptr_t stack_end;
  relock_stack_of_thread(&stack, &stack_end);
  relock_store_relaxed(&record->stack, stack);
  relock_store_relaxed(&record->stack_end, stack_end);
  if (pthread_setspecific(exit_key, record) != 0) {
    thread_ends(record);
    return NULL;
  }
  relock_signals_look();
  return record;
}

/* A thread that is refused a record does not go to the guard in each operation. */
struct relock_thread *relock_thread_start(void) {
  if (refused > 0) {
    refused--;
    return NULL;
  }
  return begin();
}

struct relock_thread *relock_thread_numbered(uint32_t number) {
  /* Acquire: pairs with the release in new_record(). */
  return &relock_load_acquire(&relock_thread_records[number / TOGETHER])[number % TOGETHER];
}

uint32_t relock_threads_end(void) {
  /* Acquire: pairs with the release in new_record(). */
  return relock_load_acquire(&relock_thread_records_end);
}

void relock_thread_rests(bool rests) {
  relock_guard_take(RELOCK_GUARD_THREADS);
  relock_count_own(&live.threads, rests ? -1 : 1);
  relock_guard_release(RELOCK_GUARD_THREADS);
}

uint32_t relock_threads_live(void) { return relock_load_relaxed(&live.threads); }

bool relock_thread_has_room(const struct relock_thread *self,
                            const struct relock_request *request) {
  size_t needed = relock_request_client(request)->stack;
  size_t left = relock_frame() - self->stack_end;
  if (left > self->stack) /* not this thread's stack: self is the client of an outer section */
    return false;
  return left >= needed - needed / 8;
}

/* Under the lock. */
static struct relock_request *new_nodes(void) {
  enum { NODES = 64 };
  struct relock_request *nodes = relock_os->reserve(NODES * sizeof *nodes);
  for (int i = 1; nodes && i < NODES; i++) {
    nodes[i].next = spare_nodes;
    spare_nodes = &nodes[i];
  }
  return nodes;
}

enum { SPARES = 64 }; /* that a thread keeps for itself */

struct relock_request *relock_node_take(struct relock_thread *self) {
  struct relock_request *node = self->spares;
  if (RELOCK_LIKELY(node != NULL)) {
    self->spares = node->next;
    self->spare_count--;
    return node;
  }
  relock_guard_take(RELOCK_GUARD_THREADS);
  node = spare_nodes;
  if (node)
    spare_nodes = node->next;
  else
    node = new_nodes();
  relock_guard_release(RELOCK_GUARD_THREADS);
  return node;
}

/* Some threads take more nodes than they give, and others the reverse. */
static void share_spares(struct relock_thread *self) {
  struct relock_request *last = self->spares;
  for (int i = 1; i < SPARES / 2; i++)
    last = last->next;
  relock_guard_take(RELOCK_GUARD_THREADS);
  struct relock_request *rest = last->next;
  last->next = spare_nodes;
  spare_nodes = self->spares;
  relock_guard_release(RELOCK_GUARD_THREADS);
  self->spares = rest;
  self->spare_count -= SPARES / 2;
}

void relock_node_give(struct relock_thread *self, struct relock_request *node) {
  node->next = self->spares;
  self->spares = node;
  if (RELOCK_UNLIKELY(++self->spare_count > SPARES))
    share_spares(self);
}

void relock_threads_after_fork(void) {
  first_free = 0;
  live.threads = relock_thread_records_end;
  if (relock_own_record)
    set_id(relock_own_record);
  for (uint32_t i = 0; i < relock_thread_records_end; i++) {
    struct relock_thread *record = relock_thread_numbered(i);
    record->owed = NULL; /* to threads that are gone */
    record->owing = RELOCK_WORD_FREE;
    if (record == relock_own_record)
      continue;
    /* Its list may be torn, since threads go on while the kernel copies page by page. */
    record->spares = NULL;
    give_back(record);
  }
}
