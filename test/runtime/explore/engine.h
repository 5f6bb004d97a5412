/* SPDX-License-Identifier: MIT
 *
 * The schedule explorer: what its parts offer each other. One execution at a time runs on fibers
 * of one system thread; README.md describes the model.
 *
 *   tsan.c      the entry points that instrumented code calls
 *   memory.c    the memory model: what a load may read, data races, freed memory
 *   schedule.c  the modelled threads, the choices and the search over them
 *   os.c        relock_os: futexes, time, the barrier
 *   trace.c     names of addresses and places, and what happened
 *   fiber.c     stacks, switching between them, thread pointers
 *   events.c    threads end and begin, are cancelled, fork, and get signals
 *   state.c     states that the search has seen
 */
#ifndef RELOCK_EXPLORE_ENGINE_H
#define RELOCK_EXPLORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_THREADS = 6, MAX_LOCATIONS = 1024, MAX_CALLS = 64, MAX_BACK = 60, MAX_CLEANUPS = 4 };

/* What a thread knows, or a message carries: how far each thread's past is known (happens-before),
 * and for each atomic location the oldest message that may still be read. */
struct view {
  uint32_t clock[MAX_THREADS];
  uint16_t seen[MAX_LOCATIONS];
};

enum thread_state { RUNNING, ASLEEP, AT_BARRIER, ENDED };
enum cancel { CANCEL_NONE, CANCEL_ASKED, CANCEL_UNDER_WAY };

/* A handler that pthread_cleanup_push() has noted, and how many calls the thread was in. */
struct cleanup {
  void *buffer; /* begins with a sigjmp_buf */
  int calls;
};

struct thread {
  int id;
  bool daemon; /* an execution may end while it still runs */
  enum thread_state state;
  bool yielded;         /* not before another thread has changed something */
  unsigned vain_yields; /* that return at once, until it sleeps */
  bool in_decrement;
  bool timed;     /* asleep with a deadline */
  bool timed_out; /* why it woke up */
  const uint32_t *futex;
  unsigned idle_loads; /* in a row: a loop that spins */
  void *(*run)(void *);
  void *argument;
  void *stack_pointer;
  uintptr_t thread_pointer; /* with which it goes on: its own, or a client's */
  bool renewed;             /* it has a second pointer of its own */
  enum cancel cancel;
  bool asynchronous, uncancellable; /* as pthread_setcanceltype() and _setcancelstate() said */
  uint64_t pending, blocked;        /* signals, as the kernel has them */
  int cleanups;
  struct cleanup cleanup[MAX_CLEANUPS];
  int calls;
  uintptr_t call[MAX_CALLS]; /* where the functions that it is in were called from */
  uint64_t past;             /* what it did and saw, state.c */
  uint64_t values;           /* which it found in atomic objects, and where */
  struct view view;
};

/* --- schedule.c ------------------------------------------------------------------------------ */

extern struct thread threads[MAX_THREADS];
extern int thread_count;
extern struct thread *current; /* null outside of executions: then nothing is modelled */
extern uint32_t execution;     /* the number of this one, never 0 */

/* Ends the execution. */
__attribute__((noreturn, format(printf, 1, 2))) void finding(const char *format, ...);
__attribute__((noreturn)) void out_of_bounds(void);

/* Before an operation that other threads can see; `shared` false: they cannot. */
void schedule_point(bool shared);
/* The current thread has changed something that others may wait for. */
void state_changed(void);
/* The current thread cannot go on; returns when it can. */
void block(enum thread_state state);
void yield_thread(void);
/* As a yield that is not in vain: whoever asks again and again for what another thread is about to
 * do lets it. */
void let_others_run(void);
/* Whether no other thread is half-way through an owner's decrement. */
bool barrier_is_open(const struct thread *waiter);
void wake_thread(struct thread *thread);
struct thread *start_fiber(void *(*run)(void *), void *argument);
/* The current thread has come to its end. */
__attribute__((noreturn)) void thread_ended(void);

/* Chooses one of these numbers: how many messages an operation goes back in modification order.
 * The first is the default. */
unsigned choose_message(const uint16_t *backs, unsigned count);
unsigned choose_sleeper(unsigned candidates);
bool choose_clock_jump(void);
/* Which of the two processes after a fork. */
bool choose_child(void);

/* --- state.c --------------------------------------------------------------------------------- */

uint64_t mixed(uint64_t digest, uint64_t value);
/* The current thread has learnt something, or is further than it was. */
void saw(uint64_t what);
/* Of all on which it depends how this execution can go on, but for what it may still deviate. */
uint64_t state_digest(void);

/* A set of digests. */
struct seen {
  uint64_t *digests;
  uint32_t count, room;
};
void seen_forget(struct seen *seen);
/* False if it was there. */
bool seen_add(struct seen *seen, uint64_t digest);

/* --- memory.c -------------------------------------------------------------------------------- */

enum { RELAXED = 0, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST }; /* the compilers' numbers */

enum rmw { EXCHANGE, ADD, SUB, AND, OR, XOR, NAND };

uint64_t atomic_load(void *address, int size, int order, uintptr_t pc);
void atomic_store(void *address, int size, uint64_t value, int order, uintptr_t pc);
uint64_t atomic_rmw(void *address, int size, enum rmw operation, uint64_t value, int order,
                    uintptr_t pc);
/* Returns what it found. */
uint64_t atomic_cas(void *address, int size, uint64_t expected, uint64_t value, int order,
                    int failure_order, uintptr_t pc);
void plain_access(const void *address, size_t size, bool write, uintptr_t pc);
void memory_freed(void *address, size_t size, uintptr_t pc);
void full_barrier(void);
/* In the child of a fork the current thread finds what memory has, and is alone with it until
 * another one starts. */
void memory_copied(void);
void memory_has_company(void);

/* The newest value, as the kernel sees it. */
uint32_t newest_value(const uint32_t *word);

/* Of all messages, in their orders. */
uint64_t memory_digest(void);

void memory_begin(void);
void memory_end(void); /* restores what the execution has written */
/* Locations that the search takes for shared stay the same during one search. */
void sharing_forget(void);
void sharing_freeze(void);
bool sharing_grew(void);

/* --- mutants: places of operations whose order is weakened ------------------------------------ */

enum { MAX_SITES = 512 };
struct site {
  uintptr_t pc;
  const char *operation;
  int order;
};
extern struct site sites[MAX_SITES]; /* of all operations stronger than relaxed that ran */
extern int site_count;
/* Operations called from these places, if they have `mutant_from`, have `mutant_to`. */
extern const uintptr_t *mutant_pcs;
extern int mutant_pc_count, mutant_from, mutant_to;

/* --- trace.c --------------------------------------------------------------------------------- */

extern bool tracing;
void trace_event(uintptr_t pc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The arguments are not evaluated otherwise. */
#define trace(...)                                                                                 \
  do                                                                                               \
    if (__builtin_expect(tracing, 0))                                                              \
      trace_event(__VA_ARGS__);                                                                    \
  while (0)
void trace_begin(void);
void trace_print(void);
const char *order_name(int order);
/* A name for an address of the scenario or of the runtime, in one of a few static buffers. */
const char *address_name(const void *address);
void name_memory(const char *name, const void *address, size_t size);
void forget_names(void);
/* The function around an address of code, and whether it is the owner's decrement. */
const char *function_name(uintptr_t pc);
bool is_decrement(uintptr_t pc);
/* Finds the source lines of return addresses, as "file:line", with one call of addr2line. */
void source_lines(const uintptr_t *pcs, int count, char (*lines)[64]);
void load_symbols(void);
void print_calls(const struct thread *thread);

/* --- os.c ------------------------------------------------------------------------------------ */

/* As many as the runtime is told. With one, waits do not spin. */
extern unsigned processors;

void os_begin(void);
/* What was reserved before belongs to all executions. */
void os_set_up(void);
uint64_t os_digest(void);

/* --- fiber.c --------------------------------------------------------------------------------- */

/* Makes the stacks and the thread pointers of all modelled threads. */
void fibers_start(void);
/* Puts a thread's fiber at the start of entry(). */
void fiber_reset(struct thread *thread, void (*entry)(void));
/* Between fibers, and from and to the stack that the search runs on (null). */
void fiber_switch(struct thread *from, struct thread *to);
/* Calls a function on a fiber, outside of executions; and on which. */
void fiber_call(struct thread *thread, void (*function)(void));
const struct thread *fiber_called(void);
bool on_fiber_stack(const void *address);

/* The thread goes on with the thread pointer of a thread that has not run yet; once. */
void fiber_renew(struct thread *thread);

/* --- events.c -------------------------------------------------------------------------------- */

void events_begin(void);
/* Where a thread that others have cancelled ends. */
void cancellation_point(void);
bool is_child(void);
/* Where the current thread runs the handlers of signals that have come and are not blocked. */
void take_signals(void);
/* sigaction(2), and the current thread's mask. */
struct relock_signal_action;
void signal_action(int number, const struct relock_signal_action *set,
                   struct relock_signal_action *found);
uint64_t block_signals(void);
void restore_signals(uint64_t blocked);
/* Whether handlers are looked at: where a scenario has set one. */
bool handlers_are_seen(void);
/* The signal that tells a thread to let handlers of others run; nothing else. */
void interrupt_thread(int thread_id);
int thread_id_of(const struct thread *thread);

/* --- the search ------------------------------------------------------------------------------ */

struct scenario {
  const char *name;
  const char *what;
  int threads;
  int less;                   /* deviations than the limit says: larger spaces */
  void (*set_up)(void);       /* before the first execution; its effects are kept */
  void (*thread)(int id);     /* the body of each modelled thread */
  const char *(*check)(void); /* after an execution: null, or what is wrong */
};

enum outcome { CLEAN, FOUND, INCONCLUSIVE };

struct limits {
  int deviations, stale, spurious, jumps;
  uint32_t steps;
};
extern struct limits limits;
/* Goes on from states that were explored, too. */
extern bool follow_all;

struct statistics {
  uint64_t executions;
  uint32_t ends;    /* different ones, by the values that the threads found */
  uint32_t longest; /* steps */
};

enum outcome explore(const struct scenario *scenario, struct statistics *statistics);
enum outcome explore_randomly(const struct scenario *scenario, uint64_t seed, uint64_t runs,
                              struct statistics *statistics);
enum outcome replay(const struct scenario *scenario, const char *trail);
/* Of the last finding. */
const char *finding_text(void);
/* Runs the last finding once more with a trace, and prints it. */
void print_finding(const struct scenario *scenario);

#endif
