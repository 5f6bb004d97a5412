/* SPDX-License-Identifier: MIT
 *
 * The records of this process: the mapped file, its threads, mutexes and histograms.
 */
#ifndef RELOCK_PROFILER_RECORD_H
#define RELOCK_PROFILER_RECORD_H

#include "../statistics/timing.h"
#include "layout.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { GROUPS_MAX = 1 << 16, HELD_MAX = 32, STATS_PAGE = 256, STATS_PAGES = 256, PENDING_MAX = 8 };

/* A thread's own histograms of one group. */
struct stats {
  struct relock_histogram *measure[2];
};

/* Of locks that are taken one inside the other. */
static inline uint32_t nested_groups(uint32_t inner, uint32_t outer) { return inner << 16 | outer; }

/* The same for groups that it has a tally of. */
struct shared_stats {
  struct relock_tally *tally;
  struct relock_histogram *read_wait, *read_hold;
};

/* An rwlock that the thread reads under; once more for each time that it has locked it. Or a lock
 * of librelock. */
struct read_hold {
  const void *lock;
  struct relock_tally *tally; /* null: librelock's, which one thread holds at a time */
  uint64_t since;             /* 0: not timed */
  uint32_t group, weight;
};

/* When the next sample is due: see sample.h. */
struct sampling {
  uint64_t countdown, period, last, random;
};

/* What backtraces may cost: see sample.c. */
struct budget {
  int64_t left;       /* ns */
  uint64_t processor; /* as of when that was reckoned */
  uint64_t interval;  /* ticks between two samples, so that it lasts */
  uint64_t cost;      /* ticks that the last one took */
};

/* A hold that is a sample. */
struct pending {
  const struct relock_object *object;
  struct relock_site *site;
  uint64_t hold_start, weight;
};

enum { EVENT_SECTIONS_MAX = 8 };

/* A section whose events are being counted: what the counter showed when it began. */
struct counted_section {
  const struct relock_object *object;
  uint64_t hold_start, weight, value;
  uint64_t ticks; /* that reading it took */
  bool reading;   /* an rwlock, for reading */
};

/* The counter of a running thread, by which of the two it is read, and when that is due next. */
struct event_counter {
  struct sampling due;
  const struct perf_event_mmap_page *page;
  int descriptor;
  enum { EVENT_UNOPENED, EVENT_OPEN, EVENT_CLOSED } state;
  uint64_t id; /* of the counter, behind the descriptor */
  uint32_t count;
  struct counted_section sections[EVENT_SECTIONS_MAX];
};

/* A hash table of records by pairs of numbers: see pairs.h. */
struct pair {
  uint64_t key;
  void *record; /* null: free */
};
struct pairs {
  struct pair *table;
  uint32_t count, capacity;
};

/* A lock with one holder that the thread holds. */
struct held {
  struct relock_object *object;
  uint64_t
      plain;     /* its address, if the end of its hold is but a count; 0: it is more, see hold.h */
  uint16_t from; /* the processor of its last release, if another thread's */
  uint16_t to;   /* if so: that of its acquisition */
  uint32_t nested; /* the last pair of groups that was counted from here, neither read */
  struct relock_nesting *nesting; /* its record; null: there is none */
};
_Static_assert(sizeof(struct held) == 32, "two in a line");

/* A running thread. What every acquisition needs comes first: what it would find elsewhere, too, so
 * that it fetches fewer lines and pages where other data fill the caches. Threads that end leave
 * theirs to threads that start, counts and all: memory follows the number of threads that live at
 * once. */
struct thread {
  RELOCK_LINE struct relock_thread *record;
  uint32_t id;        /* of the record */
  uint32_t once;      /* 1: the two are the owner and the depth of a lock that it holds */
  uint64_t countdown; /* to the next acquisition of which more is to be recorded: sample.h */
  struct processor_area *area;
  struct relock_header *header;
  int (*trylock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *); /* the real ones */
  uint8_t held_count, read_count, pending_count;
  RELOCK_LINE struct held held[HELD_MAX + 1]; /* what is beyond the last one is not kept */
  uint64_t gap;                               /* at the end of which the countdown will be over */
  uint64_t clock;              /* a reading, after which the thread has not lost its processor */
  uint64_t clock_countdown;    /* at that time */
  uint64_t untimed;            /* ticks since then, by the number of librelock's locks; about */
  struct relock_timing timing; /* of holds: see hold.h */
  struct sampling acquisitions;
  struct sampling waits;
  struct budget budget;
  pthread_t pthread; /* where the record is live */
  struct thread *next_free;
  void *(*start)(void *);
  void *argument;
  struct sampling other_waits;  /* for no lock */
  struct sampling librelock[2]; /* its calls, and those that wait; it counts down itself */
  struct event_counter events;
  struct pending pending[PENDING_MAX];
  struct pairs nestings, edges;
  struct stats *page[STATS_PAGES];
  struct shared_stats *shared_page[STATS_PAGES];
  struct read_hold reads[HELD_MAX];
  uint32_t depths[HELD_MAX]; /* of what it held at the last fork */
};
_Static_assert(offsetof(struct thread, held) == 64 && HELD_MAX <= UINT8_MAX, "one line");
#define FROM_ITSELF (UINT16_MAX - 1) /* or nobody: no processor's number */

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline)) /* what is off the way that nearly all calls go */

extern struct relock_header *header;

/* Begins recording in a new file of the directory the environment names. */
bool record_start(void);
/* In the child of a fork: goes on in a file of its own, with all names and no counts. */
bool record_restart(struct thread *survivor);
void record_end(enum relock_end end, int status);
/* Before the program installs a filter of system calls: reserves memory, and from then on none is
 * asked for. `on` false: the filter was refused. */
void record_seal(bool on);

/* Nanoseconds of processor time that the calling thread has taken; 0: it may not be asked for. */
uint64_t record_processor_time(void);

/* Held over fork, so that the child finds the tables whole. */
void record_lock(void);
void record_unlock(void);
/* Keeps what the parent's records will no longer tell when the child gets to copy them. */
void record_before_fork(struct thread *thread);

struct thread *thread_take(void);
/* `again`: the thread had ended its records, and then locks in a destructor of its own. */
void thread_begin(struct thread *thread, uint64_t now, bool again);
/* The program names a thread, which may not have begun yet. */
void thread_name(pthread_t id, const char *name);
void thread_finish(struct thread *thread, uint64_t now);
void thread_give_back(struct thread *thread);

/* Null when memory is at its limit. */
struct relock_object *object_create(const pthread_mutex_t *mutex, bool initialised);
void object_retire(const pthread_mutex_t *mutex);
/* The same for other primitives; an address can be known as one of each. */
struct relock_object *primitive_create(enum relock_primitive primitive, const void *address,
                                       bool initialised);
void primitive_retire(enum relock_primitive primitive, const void *address);
struct relock_group *group_of(const struct relock_object *object);
/* Marks the group of an object as the profiler's own. */
void object_hide(struct relock_object *object);

/* Made if there is none; null is counted as dropped. */
struct relock_histogram *histogram_made(struct thread *thread, uint32_t group,
                                        enum relock_measure what);
/* RELOCK_WAIT or RELOCK_READ_WAIT, of a wait that found so many others waiting. */
void measure_wait(struct thread *thread, uint32_t group, enum relock_measure what, uint64_t value,
                  uint32_t waiters);
void measure_read_hold(struct thread *thread, uint32_t group, uint64_t value, uint32_t weight);
/* Null when memory is at its limit. */
struct relock_tally *thread_tally(struct thread *thread, uint32_t group);

/* Objects by address, which no lock protects where it is read: in each slot a number of the object
 * and a tag of its address, so that a look at others is mostly saved. Small, because it is looked
 * at in each acquisition. 0: never used; slots are reused, never emptied. */
enum { OBJECT_TABLE_SIZE = 1 << 20, OBJECT_PROBES_MAX = 128 }; /* the size is a power of two */
extern uint64_t object_table[OBJECT_TABLE_SIZE];

static inline size_t object_hash(uint32_t value) { return value * 0x9e3779b1u >> 12; }

/* Where to look first. Neighbours in memory, as in an array of mutexes, are neighbours here, so
 * that they share lines and pages. Within 64 KiB each has a slot of its own, for all but spinlocks
 * take 32 bytes or more; steps grow from probe to probe, to get out of where others lie close. */
static inline size_t object_slot(enum relock_primitive primitive, uintptr_t address) {
  const unsigned shift = primitive == RELOCK_SPINLOCK ? 2 : 5;
  const uint32_t region = (uint32_t)(address >> 16) ^ (uint32_t)primitive << 28;
  return object_hash(region) + ((address & 0xffff) >> shift);
}

/* The high half of a slot: 31 bits of the address. The low half is the object's number, which
 * counts the 64-byte lines of the file; 0: the slot is vacant. */
static inline uint64_t object_tag(uintptr_t address) {
  return ((uint64_t)address >> 2 | (uint64_t)1 << 31) << 32;
}

/* In the low half, too: the object's next hold is timed in any case. */
#define OBJECT_SURE ((uint64_t)1 << 31)
void object_mark_sure(const struct relock_object *object, bool sure);

static inline struct relock_object *object_numbered(struct relock_header *first, uint64_t number) {
  return (struct relock_object *)((char *)first + number * 64);
}

/* Null if the slot has another tag, or is vacant. */
static inline struct relock_object *object_in(uint64_t slot, uint64_t tag) {
  uint64_t number = (slot ^ tag) & ~OBJECT_SURE;
  return LIKELY(number - 1 < UINT32_MAX) ? object_numbered(header, number) : NULL;
}

static inline bool object_is(const struct relock_object *object, enum relock_primitive primitive,
                             uintptr_t address) {
  return __atomic_load_n(&object->address, __ATOMIC_ACQUIRE) == address &&
         object->primitive == primitive;
}

static inline struct relock_object *primitive_find(enum relock_primitive primitive,
                                                   const void *where) {
  const uintptr_t address = (uintptr_t)where;
  const uint64_t tag = object_tag(address);
  size_t at = object_slot(primitive, address);
  for (unsigned probe = 0; probe < OBJECT_PROBES_MAX; at += ++probe) {
    /* Pairs with the release in insert(): the object is complete when it is seen. */
    uint64_t slot = __atomic_load_n(&object_table[at & (OBJECT_TABLE_SIZE - 1)], __ATOMIC_ACQUIRE);
    struct relock_object *object = object_in(slot, tag);
    if (LIKELY(object) && LIKELY(object_is(object, primitive, address)))
      return object;
    if (!slot)
      return NULL;
  }
  return NULL;
}

/* At the first look, if the next hold is not timed in any case; otherwise null. The tag need not be
 * looked at: whether the slot has the right object that says itself, with what is in the line that
 * is needed next. */
static inline struct relock_object *
primitive_plain(const struct thread *thread, enum relock_primitive primitive, const void *where) {
  const uintptr_t address = (uintptr_t)where;
  size_t at = object_slot(primitive, address) & (OBJECT_TABLE_SIZE - 1);
  int32_t number = (int32_t)__atomic_load_n(&object_table[at], __ATOMIC_ACQUIRE);
  struct relock_object *object;
  if (UNLIKELY(number <= 0)) /* vacant, or OBJECT_SURE */
    return NULL;
  object = object_numbered(thread->header, (uint32_t)number);
  return LIKELY(object_is(object, primitive, address)) ? object : NULL;
}

static inline struct relock_object *object_find(const pthread_mutex_t *mutex) {
  return primitive_find(RELOCK_MUTEX, mutex);
}

/* `weight`: how many values it stands for. */
static inline void histogram_add(struct relock_histogram *histogram, uint64_t value,
                                 uint32_t weight) {
  histogram->values++;
  histogram->count += weight;
  histogram->total += weight * value;
  if (value > histogram->max)
    histogram->max = value;
  histogram->buckets[relock_bucket(value)] += weight;
  if (weight > 1)
    relock_chance_add(&histogram->chance, value, weight);
}

/* Null when there is none yet. */
static inline struct relock_histogram *histogram_of(const struct thread *thread, uint32_t group,
                                                    enum relock_measure what) {
  const struct stats *page = thread->page[group / STATS_PAGE];
  return LIKELY(page) ? page[group % STATS_PAGE].measure[what] : NULL;
}

/* Of RELOCK_WAIT and RELOCK_HOLD. */
static inline void measure(struct thread *thread, uint32_t group, enum relock_measure what,
                           uint64_t value, uint32_t weight) {
  struct relock_histogram *histogram = histogram_of(thread, group, what);
  if (UNLIKELY(!histogram))
    histogram = histogram_made(thread, group, what);
  if (LIKELY(histogram))
    histogram_add(histogram, value, weight);
}

static inline void count_drop(uint64_t *counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* With the lock held. */
/* Private memory that is never given back, for what the reader of the file need not see. */
void *private_allocate(size_t size);
void *record_allocate(enum relock_record_kind kind, size_t size);

#endif
