/* SPDX-License-Identifier: MIT
 *
 * What a running thread has beside its record.
 */
#ifndef RELOCK_PROFILER_THREAD_H
#define RELOCK_PROFILER_THREAD_H

#include "../statistics/timing.h"
#include "store.h"

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
  RELOCK_LINE struct relock_thread_record *record;
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
  struct pairs nestings, edges, intervals;
  struct stats *page[STATS_PAGES];
  struct shared_stats *shared_page[STATS_PAGES];
  struct read_hold reads[HELD_MAX];
  uint32_t depths[HELD_MAX]; /* of what it held at the last fork */
};
_Static_assert(offsetof(struct thread, held) == 64 && HELD_MAX <= UINT8_MAX, "one line");
#define FROM_ITSELF (UINT16_MAX - 1) /* or nobody: no processor's number */

/* The records of the calling thread while it may be recorded: null while the profiler is at work,
 * so that whatever that calls, and signal handlers on top of it, pass. */
extern __thread struct thread *recording_ready;

#endif
