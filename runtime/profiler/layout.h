/* SPDX-License-Identifier: MIT
 *
 * What the profiler library leaves behind: one file per process, mapped shared, so that it
 * survives whatever way the process ends. A header, then records of 64-byte granularity, each
 * beginning with its kind and size, so that the reader can walk them without an index. The file
 * never leaves the machine that wrote it: fields are native, times are ticks of the cycle counter.
 */
#ifndef RELOCK_PROFILER_LAYOUT_H
#define RELOCK_PROFILER_LAYOUT_H

#include "../statistics/buckets.h"
#include "../statistics/chance.h"
#include "../statistics/processor.h"

#include <stdint.h>

#define RELOCK_RECORDS_MAGIC 0x736b636f6c65726bull
#define RELOCK_RECORDS_VERSION 9u
#define RELOCK_RECORDS_FIRST 4096u /* where the records begin */
#define RELOCK_RECORDS_DIR "RELOCK_PROFILE_DIR"
#define RELOCK_RECORDS_LIMIT "RELOCK_PROFILE_LIMIT" /* bytes of records per process */

#define RELOCK_RECORDS_SAMPLE "RELOCK_PROFILE_SAMPLE"     /* microseconds between two samples */
#define RELOCK_RECORDS_TIME_ALL "RELOCK_PROFILE_TIME_ALL" /* time every hold, if it is set */

/* The event that is counted in sections: type, config, config1, config2 and flags of the kernel's
 * perf_event_attr, in hexadecimal, with commas. */
#define RELOCK_RECORDS_EVENT "RELOCK_PROFILE_EVENT"
enum {
  RELOCK_EVENT_NOT_USER = 1,
  RELOCK_EVENT_NOT_KERNEL = 2,
  RELOCK_EVENT_NOT_HYPERVISOR = 4,
};
/* In a program that the profiler is linked into: an ELF note with the version of the records. */
#define RELOCK_NOTE "Relock"
#define RELOCK_NOTE_LINKED 1

/* Where address space is limited: what it takes to record, and the part of it that records get. */
#define RELOCK_RECORDS_SPACE (64u << 20)
#define RELOCK_RECORDS_PART 8

#define RELOCK_FRAMES 8
#define RELOCK_LINE __attribute__((aligned(64)))

enum relock_record_kind {
  RELOCK_RECORD_THREAD = 1,
  RELOCK_RECORD_MODULE,
  RELOCK_RECORD_GROUP,
  RELOCK_RECORD_OBJECT,
  RELOCK_RECORD_HISTOGRAM,
  RELOCK_RECORD_NESTING,
  RELOCK_RECORD_TALLY,
  RELOCK_RECORD_SITE,
  RELOCK_RECORD_TIMELINE,
  RELOCK_RECORD_EDGE,
  RELOCK_RECORD_INTERVALS,
};

enum relock_primitive {
  RELOCK_MUTEX,
  RELOCK_RWLOCK,
  RELOCK_SPINLOCK,
  RELOCK_CONDITION,
  RELOCK_SEMAPHORE,
  RELOCK_BARRIER,
  RELOCK_FUTEX,     /* waits that the program asks the system for itself: one object for all */
  RELOCK_CONVERTED, /* locks of librelock: an object for each class, without counts */
  RELOCK_PRIMITIVES,
};

enum relock_end {
  RELOCK_END_UNKNOWN, /* killed, replaced by exec, or still running */
  RELOCK_END_EXIT,    /* exit() or return from main */
  RELOCK_END_QUICK,   /* _exit(), _Exit() or quick_exit() */
};

enum relock_event_reading {
  RELOCK_EVENT_NOT_READ,   /* none was asked for, or see event_error */
  RELOCK_EVENT_REGISTER,   /* of the processor, by its own instruction */
  RELOCK_EVENT_DESCRIPTOR, /* read() */
};

struct relock_record {
  uint32_t kind;
  uint32_t size; /* bytes, a multiple of 64 */
};

struct relock_header {
  uint64_t magic;
  uint32_t version;
  uint32_t pid;
  uint32_t parent;
  uint32_t forked;  /* began in fork, with the names of its parent */
  uint64_t used;    /* bytes, header included */
  uint64_t changes; /* mutexes that came or went, to tell whether a copy is of one piece */
  uint64_t capacity;
  uint64_t start_ticks, start_ns; /* read together */
  uint64_t end_ticks, end_ns;
  uint32_t end;
  uint32_t status; /* given to exit() or _exit() */
  /* Cost of one uncontended lock and unlock, in ticks times 1024, where the hold is timed and where
   * it is not; `pair_hold` is taken out of holds that began without waiting. */
  uint64_t pair_timed, pair_untimed, pair_plain, pair_hold;
  /* What was not recorded; updated atomically. */
  uint64_t dropped_objects;    /* operations on mutexes that got no record */
  uint64_t dropped_histograms; /* measured times that are in no histogram */
  uint64_t dropped_threads;    /* threads that got no record */
  uint64_t dropped_nested;     /* operations made while the profiler itself was at work */
  uint64_t dropped_modules;
  uint64_t forks;               /* begun: so many children have a file, or will have one soon */
  uint64_t unrecorded_children; /* forked processes that could not start a file of their own */
  uint64_t foreign_releases;    /* released by another thread than the one that acquired */
  uint64_t dropped_nestings;    /* acquisitions whose nesting is not counted */
  uint64_t dropped_samples;     /* acquisitions whose call found no room */
  /* Counting events. */
  uint32_t event_error; /* errno of the first counter that could not be opened; 0: it could */
  uint32_t event_reading;
  uint64_t event_alone;      /* counted by a reading itself, times 1024 */
  uint64_t dropped_counters; /* threads without a counter */
  uint64_t making;           /* ticks spent on records of new objects; updated atomically */
  uint64_t processor_ns;     /* processor time of the process, when it ended; else 0 */
  uint64_t dropped_edges;    /* waits of which it is not known for whom */
  char executable[1024];
};

struct relock_thread_record {
  struct relock_record record;
  uint32_t id;
  uint32_t live;
  /* What each section writes is in one line. */
  uint64_t section_start;  /* 0: is in no section, or in one that is not timed */
  uint64_t section_weight; /* how many sections the present one stands for */
  uint64_t section_time;
  uint64_t sections;
  uint64_t started; /* threads that used this record, one after the other */
  uint64_t start_ticks;
  uint64_t ended_time; /* ticks lived by the threads that have ended */
  uint64_t sampling;   /* ticks spent on backtraces */
  /* Of the last thread that used this record. */
  uint64_t entry;      /* the function it began with; 0: not begun by pthread_create */
  char name[16];       /* given by pthread_setname_np */
  uint64_t wait_start; /* 0: waits for nothing, or for a lock */
  uint64_t wait_group;
};

struct relock_module {
  struct relock_record record;
  uint64_t bias; /* run-time address minus address in the file */
  uint64_t low, high;
  uint32_t loaded; /* 0 once it has been unloaded */
  uint32_t path_size;
  char path[];
};

/* What every acquisition and release of a lock writes. */
struct relock_counts {
  uint64_t acquisitions, holds;
  uint64_t hold_start;  /* 0: the present hold is not timed */
  uint32_t hold_weight; /* how many holds it stands for if it is; 0: only for its call */
  uint32_t sure;        /* so many of the next ones are timed in any case */
  uint32_t owner;       /* or the last one; 0: nobody has ever held it */
  uint32_t depth;       /* 0: free; compared and written together with `owner` */
  uint32_t processor;   /* on which it was released */
  uint32_t handovers;
};

/* Of one lock, or of all locks of a group that were destroyed. A hold that is timed counts as often
 * as those that it stands for; `weights` is the sum of that. */
struct relock_times {
  uint64_t contended, wait, hold, weights;
};

struct relock_rare {
  uint64_t trylock_failures, timeouts, cond_waits, reentries;
};

/* The counts of all locks of a group that were destroyed. */
struct relock_retired {
  uint64_t acquisitions, holds, handovers;
};

/* Of counted sections; updated atomically. A section counts as often as those that it stands for.
 */
struct relock_events {
  uint64_t samples, sections, events;
};

/* Mutexes that were initialised by the same backtrace, or one mutex of static storage; or objects
 * of another primitive. */
struct relock_group {
  struct relock_record record;
  uint32_t index;
  uint32_t frame_count;
  uint64_t address;     /* static storage; 0: heap, stack or thread-local */
  uint16_t initialised; /* the frames are those of pthread_mutex_init, not of the first use */
  uint16_t hidden;      /* the profiler's own measurement */
  uint32_t primitive;
  uint64_t objects; /* ever created */
  uint64_t frames[RELOCK_FRAMES];
  struct relock_retired retired;
  struct relock_rare retired_rare;
  struct relock_times retired_times;
  struct relock_events events, read_events; /* the latter of readers of an rwlock */
};

/* All that an acquisition and a release without waiting need is the second line: it moves between
 * caches together with the lock, whose holder alone writes it, and the first. The third belongs to
 * threads that found the lock taken. */
struct relock_object {
  struct relock_record record;
  uint64_t live;
  struct relock_times times;
  RELOCK_LINE uint64_t address;
  uint32_t group, primitive;
  struct relock_counts counts;
  RELOCK_LINE struct relock_rare rare;
  uint32_t waiting; /* now */
};

/* A thread's counts of a group whose objects have no single holder to write them: readers of an
 * rwlock, and whoever waits for a condition, semaphore or barrier. */
struct relock_tally {
  struct relock_record record;
  uint32_t group;
  uint32_t padding;
  uint64_t acquisitions; /* by readers, of semaphores; waits for conditions and barriers */
  uint64_t contended;    /* of these, had to wait */
  uint64_t try_failures, timeouts;
  uint64_t signals; /* of a condition; posts of a semaphore */
  uint64_t broadcasts;
  uint64_t holds; /* by readers, that are over */
};

/* Of an rwlock, the first two are the writers'. */
enum relock_measure { RELOCK_WAIT, RELOCK_HOLD, RELOCK_READ_WAIT, RELOCK_READ_HOLD };

/* A value counts as often as those that it stands for. What a hold writes is the first line, and
 * that of its bucket. */
struct relock_histogram {
  struct relock_record record;
  uint64_t count, total, max;
  uint64_t values; /* measured */
  struct relock_chance chance;
  uint64_t buckets[RELOCK_BUCKETS];
  uint64_t handovers[RELOCK_DISTANCES - 1]; /* of holds, without RELOCK_SAME_THREAD */
  uint64_t waiters;                         /* the sum over all waits of those that it found */
  uint32_t waiters_max;
  /* Of whose values it is. */
  uint32_t group;
  uint32_t measure;
  uint32_t thread;
};

/* Which of two rwlocks, taken one inside the other, was taken for reading. */
enum relock_reading { RELOCK_READS_NONE, RELOCK_READS_INNER, RELOCK_READS_OUTER };

/* How often one thread acquired a lock of one group while it held one of another. */
struct relock_nesting {
  struct relock_record record;
  uint32_t inner, outer; /* groups */
  uint64_t count, tried; /* `tried`: those of them that were trylocks */
  uint32_t reading;      /* a sum of enum relock_reading */
};

/* How often, and how long, one thread waited for a lock of a group that another one held. */
struct relock_edge {
  struct relock_record record;
  uint32_t group;
  uint32_t holder; /* when the wait began; 0: unknown */
  uint32_t waiter;
  uint32_t padding;
  uint64_t count, wait;
};

/* A call that acquires locks of a group, or that waits for what is no lock, by its samples.
 * Updated atomically; each sample counts as many times as the acquisitions, or the waits, that it
 * stands for. */
struct relock_site {
  struct relock_record record;
  uint32_t group;
  uint32_t frame_count;
  uint64_t reading; /* an rwlock, for reading */
  uint64_t samples;
  uint64_t acquisitions, hold;
  uint64_t contended, wait;
  uint64_t frames[RELOCK_FRAMES];
};

/* Waits one by one. Those of each power of two of ticks have a ring of their own, so that short
 * ones, of which there are most, displace no long ones. */
#define RELOCK_RINGS 20
#define RELOCK_RING_SIZE 500
#define RELOCK_RING_FIRST 10 /* waits below 2 to the power of this share the first ring */

struct relock_wait {
  uint64_t start;
  uint64_t wait; /* 0: being written, or never */
  uint32_t thread, group;
};

struct relock_timeline {
  struct relock_record record;
  uint64_t counts[RELOCK_RINGS]; /* waits that have gone into each ring */
  struct relock_wait waits[RELOCK_RINGS][RELOCK_RING_SIZE];
};

static inline unsigned relock_ring(uint64_t wait) {
  unsigned power = wait ? 63u - (unsigned)__builtin_clzll(wait) : 0;
  unsigned ring = power < RELOCK_RING_FIRST ? 0 : power - RELOCK_RING_FIRST;
  return ring < RELOCK_RINGS ? ring : RELOCK_RINGS - 1;
}

/* How long one thread waited for the locks of a group, by when. Time since the start of the process
 * is divided into intervals of one width up to that of RELOCK_INTERVALS; from there on the width
 * doubles whenever the process has run twice as long. A record has one level of them, those of one
 * width. So the whole of a run is known in at least RELOCK_INTERVALS parts, however long it gets,
 * in memory that grows with the logarithm of its length. */
#define RELOCK_INTERVALS 64u
#define RELOCK_INTERVAL_FIRST 20 /* the first width, in ticks, as a power of two */

struct relock_intervals {
  struct relock_record record;
  uint32_t group, level;
  uint64_t padding[6];
  uint64_t wait[RELOCK_INTERVALS];
};

struct relock_interval {
  uint32_t level, index;
  uint64_t begin, end; /* ticks since the start of the process */
};

static inline struct relock_interval relock_interval_in(uint32_t level, uint32_t index) {
  unsigned shift = RELOCK_INTERVAL_FIRST + (level ? level - 1 : 0);
  uint64_t number = index + (level ? RELOCK_INTERVALS : 0);
  struct relock_interval result = {level, index, number << shift, (number + 1) << shift};
  return result;
}

static inline struct relock_interval relock_interval_at(uint64_t ticks) {
  uint64_t number = ticks >> RELOCK_INTERVAL_FIRST;
  uint32_t level = number < RELOCK_INTERVALS
                       ? 0
                       : 58u - (uint32_t)__builtin_clzll(number); /* from 64 on 1, from 128 on 2 */
  uint64_t index = level ? (number >> (level - 1)) - RELOCK_INTERVALS : number;
  return relock_interval_in(level, (uint32_t)index);
}

#endif
