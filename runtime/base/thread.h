/* SPDX-License-Identifier: MIT
 *
 * Thread records: what the runtime keeps for each thread that uses it. Records are reserved some at
 * a time, found by their numbers, and never unmapped; after its thread has ended the next new
 * thread takes a record over. So a pointer to a request or a counter never dangles, and a request
 * line can name its client by a few bits. A thread for which there is no memory does without, and
 * asks again later.
 *
 * A record follows the thread pointer: in a section that runs elsewhere with its client's
 * identity, relock_thread_self() is the client's record. The client itself waits meanwhile on
 * one request line of it and touches nothing else.
 */
#ifndef RELOCK_BASE_THREAD_H
#define RELOCK_BASE_THREAD_H

#include "atomic.h"
#include "counters.h"
#include "identity.h"

#include <relock/relock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  RELOCK_MAX_THREADS = 1 << 20, /* that have a record at the same time */
  RELOCK_REQUESTS = 6,          /* waits that a thread can be in at once, by nesting */
  RELOCK_OWN_CLASSES = 24,      /* lock classes whose counters lie in the record itself */
  RELOCK_PAGE_CLASSES = 64,     /* and others, whose counters lie together in a page */
  RELOCK_PAGES = (RELOCK_MAX_CLASSES - RELOCK_OWN_CLASSES - 1) / RELOCK_PAGE_CLASSES + 1,
  RELOCK_REFUSED = 1000 /* what was refused for want of memory is asked for again so much later */
};

/* A request line: one cache line, a node of a queue or list, with the section to run or, for a
 * holder, none. `state` belongs to the algorithm and is its waiter's futex. */
struct relock_request {
  union {
    struct relock_request *next;
    relock_mutex_t *mutex; /* where requests for several mutexes mix */
    uint64_t took;         /* on `fair`, once it was run: ticks, for its client's account */
  };
  uint32_t state;
  int32_t result; /* before the section runs: how and for whom, see request.h */
  union {
    relock_section_t section; /* null: a holder, which runs its own section */
    int error;                /* after it was run for any thread: the errno that it set, or 0 */
  };
  union {
    void *pointer;
    unsigned char copy[RELOCK_COPY_MAX];
  } context;
} __attribute__((aligned(RELOCK_CACHE_LINE)));
_Static_assert(sizeof(struct relock_request) == RELOCK_CACHE_LINE, "one line per request");
_Static_assert(RELOCK_COPY_MAX == 40, "what the other fields leave of a line");

/* What a thread has seen lately of a class that could be handed to a server, see
 * server/adaptive_rcl.c. */
struct relock_watch {
  const relock_class_t *lock_class;
  uint64_t executed; /* sections when it began to count */
  uint32_t contended, delegated, free_probes;
  uint32_t probe_after; /* delegated ones; 0 before the first */
};

struct relock_server;
struct relock_slice;

/* A section of another thread that runs on this stack: lies in the frame of the function that calls
 * it, so that its address says where. For overflow.c and the debugger. */
struct relock_run {
  const struct relock_request *request; /* null: none just now, on a server */
  const struct relock_run *outer;       /* in whose section this one runs, with the same record */
};

/* A wait on a condition variable, in the frame of who sleeps. For the debugger. */
struct relock_sleep {
  relock_cond_t *cond;
  relock_mutex_t *mutex;
};

/* What a thread has submitted to one server, see mutex/submit.c. */
struct relock_submitted {
  relock_submission_t *last; /* null: it is a section without a submission */
  const relock_mutex_t *mutex;
  uint32_t index; /* of the mutex's class */
  bool timed;
};

struct relock_wait;

struct relock_thread {
  /* Constant while the record is in use, and so shared by the caches of all who serve it. */
  _Alignas(RELOCK_CACHE_LINE) uintptr_t thread_pointer;
  size_t stack;        /* bytes, see stack.h */
  uintptr_t stack_end; /* its lowest address */
  uint32_t number;
  uint32_t marks;     /* its number and whether it is urgent, see request.h */
  int tid;            /* as the kernel counts */
  void *signal_stack; /* see overflow.c; kept for the next thread */
  uint16_t tag;       /* number + 1; 0: not one of the first 65,535 */
  /* Handlers that run on its stack and have interrupted a wait of its, see identity.c; a futex. */
  uint32_t handlers;

  /* Written by the thread itself. */
  _Alignas(RELOCK_CACHE_LINE) uint32_t depth; /* request lines in use */
  uint32_t asks;    /* requests under way to be run with its identity, by nesting */
  uint32_t runs_as; /* whose identity it uses, see identity.c: number + 1; 0: its own; a futex */
  uint32_t cluster; /* see topology.h */
  uint32_t cluster_age;
  uint32_t next_free;  /* list of free records: number + 1 */
  uint64_t turn_began; /* when it last offered its processor, see wait.c */
  uint32_t turn_waits; /* before it looks whether its turn is over, from look to look, and looks */
  uint32_t turn_step, turn_looks;
  struct relock_slice *slice; /* its own, see os.h; null: there is none, or it is not wanted */
  uint64_t had_word; /* ticks when it last got a word that it waited for, see locks/adaptive.c */
  struct relock_request *spares; /* see relock_node_take() */
  uint32_t spare_count;
  struct relock_server *rcl_serves; /* a server's own thread; else null */
  uint32_t rcl_number;              /* as a client of the servers, see server/client.c */
  uint32_t rcl_penalty, rcl_skip;
  uint32_t rcl_patience;         /* turns before a look, see server/client.c */
  uint32_t rcl_served, rcl_lone; /* sections, see server/lone.h */
  uint32_t rcl_asks;      /* requests to servers under way, all but one in sections of others */
  uint32_t rcl_submitted; /* servers at which its slot holds what it has submitted, as bits */
  bool rcl_settles;       /* waits for these */
  struct relock_submitted submitted[RELOCK_MAX_SERVERS];
  uint32_t rcl_share;
  uint64_t rcl_resume_ns;
  struct relock_watch watch;
  const struct relock_run *running;  /* for another thread */
  const struct relock_wait *waits;   /* for mutexes, see wait.h */
  const struct relock_sleep *sleeps; /* on a condition variable */
  bool watched;                      /* overflows of its stack are reported */
  uint32_t counters_refused;         /* counts down, see RELOCK_REFUSED */
  struct relock_times *times;        /* see times.h */
  struct relock_cond_waiter *owed;   /* see locks/owed.h */
  struct relock_cond_waiter *owed_last;
  uint32_t owing; /* a word */
  bool traces;    /* its next call that takes a timed mutex */

  struct relock_request requests[RELOCK_REQUESTS];
  struct relock_counters counters[RELOCK_OWN_CLASSES];
  struct relock_counters *more_counters[RELOCK_PAGES]; /* of the classes behind these */
};

/* The calling thread's record, or null: not yet made, or the thread is about to end. */
extern __thread struct relock_thread *relock_own_record
    __attribute__((tls_model("initial-exec"))) RELOCK_HIDDEN;

/* The counters of a class in a record; null: it has none yet, see relock_stats_count(). */
static inline struct relock_counters *relock_counters_of(struct relock_thread *record,
                                                         uint32_t index) {
  if (RELOCK_LIKELY(index < RELOCK_OWN_CLASSES))
    return &record->counters[index];
  const uint32_t more = index - RELOCK_OWN_CLASSES;
  /* Acquire: pairs with the release in make_counters(), counters.c. */
  struct relock_counters *page =
      relock_load_acquire(&record->more_counters[more / RELOCK_PAGE_CLASSES]);
  return page ? &page[more % RELOCK_PAGE_CLASSES] : NULL;
}

/* Makes the record. Null: no room, now or a while ago, or the thread's exit handlers have run. */
struct relock_thread *relock_thread_start(void);

static inline struct relock_thread *relock_thread_self(void) {
  struct relock_thread *self = relock_own_record;
  return RELOCK_LIKELY(self != NULL) ? self : relock_thread_start();
}

/* The record with that number, which was given to a thread once. */
struct relock_thread *relock_thread_numbered(uint32_t number);

/* The record of the thread on whose stack that address is, which need not be what the thread
 * pointer says. Null: unknown. */
struct relock_thread *relock_thread_on_stack(uintptr_t address);

/* The record of the living thread with that number of the kernel. Null: it has none. */
struct relock_thread *relock_thread_with_id(int tid);

/* One more than the highest number ever given. */
uint32_t relock_threads_end(void);
/* The same, and the records, for who looks at them from outside: debug/layout.c. */
extern uint32_t relock_thread_records_end RELOCK_HIDDEN;
extern struct relock_thread *relock_thread_records[] RELOCK_HIDDEN;

/* Threads that have a record now, and do not rest. */
uint32_t relock_threads_live(void);

/* The calling thread, which has a record, is one of the runtime's own that sleeps until it is
 * needed: it does not want a processor. Not twice in a row. */
void relock_thread_rests(bool rests);

/* Whether the thread can begin another wait. */
static inline bool relock_thread_can_wait(const struct relock_thread *self) {
  return self != NULL && self->depth < RELOCK_REQUESTS;
}

/* A request line of the thread; only if it can wait. Given back in the reverse order. */
static inline struct relock_request *relock_request_take(struct relock_thread *self) {
  return &self->requests[self->depth++];
}
static inline void relock_request_give(struct relock_thread *self) { self->depth--; }

/* Whether a thread may run a client's section on its own stack from here. */
bool relock_thread_has_room(const struct relock_thread *self, const struct relock_request *request);

/* Request lines that belong to no thread, for queues whose nodes change hands (CLH, CC-Synch).
 * Null: no memory. A line may be given back by another thread than took it. Never unmapped. */
struct relock_request *relock_node_take(struct relock_thread *self);
void relock_node_give(struct relock_thread *self, struct relock_request *node);

/* Who wants to know of threads, from the process's start on. Those that end have their record
 * still, and any number may at once. */
struct relock_thread_life {
  void (*starts)(struct relock_thread *record); /* which may have been another's before */
  void (*ends)(struct relock_thread *record);
  void (*first_ends)(void); /* after relock_first_thread_starts(); it has no record any more */
};
void relock_threads_tell(const struct relock_thread_life *who);

/* By the thread that the process began with, or the only one of a forked child: from now on it is
 * known when it ends. False: that will not be known. */
bool relock_first_thread_starts(void);

/* At start, if a race detector looks on (annotate.h). */
void relock_threads_annotate(void);

/* In a forked child, under the lock: frees the records of threads that are gone. */
void relock_threads_after_fork(void);

#endif
