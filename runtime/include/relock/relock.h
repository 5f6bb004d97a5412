/* SPDX-License-Identifier: MIT
 *
 * Relock runtime: one mutex object that every lock algorithm can serve, either to a holder
 * (lock, work, unlock) or by running a section on the caller's behalf (execute).
 *
 *   static relock_mutex_t lock = RELOCK_MUTEX_INITIALIZER(counter_lock);
 *
 *   static int increment(void *context) {      // a critical section as a function
 *     counter += *(int *)context;
 *     return 0;
 *   }
 *   ...
 *   relock_execute(&lock, increment, &amount); // some thread runs it, under the lock
 *
 *   relock_mutex_lock(&lock);                  // or hold the same lock, as ever
 *   counter += amount;
 *   relock_mutex_unlock(&lock);
 *
 * Which algorithm serves a lock is a property of its class (RELOCK_LOCK_CLASS), which the
 * environment variable RELOCK_LOCKS="class=algorithm,..." overrides at start. The class
 * "default" stands for locks without a class, "*" for every class.
 *
 * Every function may be called by any thread at any time, before main and after fork included,
 * unless its comment says otherwise. None of them changes errno. None but the condition waits is
 * a cancellation point. None may be called from a signal handler. Error numbers are those of the
 * POSIX function of the same name; what POSIX leaves undefined stays undefined unless said here.
 */
#ifndef RELOCK_RELOCK_H
#define RELOCK_RELOCK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Functions that a file needs only because it includes a table of lock classes. They are weak
 * there, so that a program that uses no lock links without librelock. */
#ifdef RELOCK_BUILDING_RUNTIME
#define RELOCK_IF_LINKED
#else
#define RELOCK_IF_LINKED __attribute__((weak))
#endif

/* Available whatever feature macros the program defines, as pthread_mutex_t is. */
struct timespec;
#ifdef __GLIBC__
typedef __clockid_t relock_clockid_t;
#else
typedef clockid_t relock_clockid_t;
#endif
enum { RELOCK_TYPE_NORMAL = 0, RELOCK_TYPE_RECURSIVE = 1, RELOCK_TYPE_ERRORCHECK = 2 };

struct relock_algorithm;

/* A lock class: all mutexes that come from one declaration. Defined by RELOCK_LOCK_CLASS. Each
 * operation reads it, so it shares no cache line with a mutex or other data that is written. */
typedef struct relock_class {
  const char *name;                          /* what RELOCK_LOCKS and the statistics call it */
  const char *algorithm;                     /* as relock_class_move() takes; null: adaptive */
  const struct relock_algorithm *relock_ops; /* the rest belongs to the runtime */
  struct relock_class *relock_next;
  uint32_t relock_index; /* of its counters */
  uint32_t relock_flags;
  uint64_t relock_mutexes;
  uint32_t relock_server;
  void *relock_private[3];
} __attribute__((aligned(64))) relock_class_t;

/* Same size, alignment and zero value as pthread_mutex_t, so that it can take its place in a
 * struct. Zero-filled, it is a normal mutex of the default class. */
typedef union relock_mutex {
  struct {
    relock_class_t *lock_class; /* null: the default class */
    uintptr_t tail;             /* the algorithm's: 0 when nobody waits, or see annex.h */
    uintptr_t owner;            /* recursive and errorcheck: the owner's thread pointer */
    uint32_t word;              /* the exclusion word, see word.h */
    uint8_t open;               /* arrivals may take a free word although tail is not 0 */
    uint8_t server;             /* its own, from 1 on; 0: its class's */
    uint16_t holder;            /* whose thread the word is, see owed.h; 0: unknown, or nobody's */
    uint32_t recursion;         /* recursive: acquisitions beyond the first */
    uint16_t generation;        /* of the process in which tail and open were written */
    uint8_t kind;               /* RELOCK_TYPE_..., and whether it was ever used */
    uint8_t executing;          /* a section runs under the exclusion word, see section.h */
  } relock_private;
  char relock_size[sizeof(pthread_mutex_t)];
  long relock_align;
} relock_mutex_t;

/* Same size, alignment and zero value as pthread_cond_t. */
typedef union relock_cond {
  struct {
    void *first; /* waiters, in the order in which they came */
    void *last;
    uintptr_t incoming; /* newcomers, not on the list yet */
    uint32_t lock;      /* guards the list; tagged with the fork generation */
    uint32_t clock;
    uint32_t destroyer;  /* waits for threads that are leaving */
    uint32_t generation; /* of the process in which incoming was written */
  } relock_private;
  char relock_size[sizeof(pthread_cond_t)];
  __extension__ long long relock_align;
} relock_cond_t;

/* A critical section as a function. Returns which of its exits it took (0: the end). */
typedef int (*relock_section_t)(void *context);

/* Runs section(context) under the mutex and returns what it returned. Another thread may run it;
 * the section then has the caller's thread identity all the same: errno, __thread variables,
 * pthread_self(), pthread_getspecific() and the allocator's caches are the caller's. Where
 * identity cannot be switched (no FSGSBASE, sanitizers, a program whose sigaction() is not this
 * library's), and under race detectors, the caller runs the section itself. Signal handlers have
 * the identity of the thread on whose stack they run; one that interrupts a section, or a wait for
 * one, must return.
 *
 * The section may use any lock but this one (a recursive mutex: also this one), and may block,
 * at the price of everybody behind it. It must not wait on a condition variable with this mutex
 * (the program stops with a message; see relock_execute_resumable), unless the mutex's class has
 * the algorithm rcl and its server was not refused its processor. It must not leave by longjmp,
 * pthread_exit or an exception, be cancelled asynchronously, or fork a child that goes on using
 * locks. It runs on the stack of the thread that runs it; gettid() and the signal mask are that
 * thread's.
 *
 * A cancellation request does not end a section that another thread runs, or that runs others'
 * after its own; it stays pending. One that its caller runs in its place is ended by it at the
 * section's own cancellation points, and the mutex stays locked, as after pthread_mutex_lock.
 *
 * A recursive mutex that the caller holds: the section runs at once. An errorcheck mutex that the
 * caller holds: the program stops with a message, since no error can be returned.
 * When relock_execute has returned, the runtime does not touch the mutex again on the caller's
 * behalf: the last user may free it then, as after an unlock. */
int relock_execute(relock_mutex_t *mutex, relock_section_t section, void *context);

/* As relock_execute, for a section known not to depend on thread identity: its callees included,
 * it uses no errno, no thread-local variable, no allocator, no pthread_self(), and no recursive
 * or errorcheck mutex. Saves the switch (two register writes). */
int relock_execute_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context);

/* The same where the condition holds; where it does not, the section runs without the mutex, which
 * is not evaluated then. For programs that lock only while they have several threads:
 * `if (threads > 1) lock(&m); ... if (threads > 1) unlock(&m);`. The condition is evaluated once. */
#define relock_execute_if(condition, mutex, section, context)                                     \
  ((condition) ? relock_execute((mutex), (section), (context)) : (section)(context))
#define relock_execute_if_any_thread(condition, mutex, section, context)                          \
  ((condition) ? relock_execute_any_thread((mutex), (section), (context)) : (section)(context))

/* As relock_execute and relock_execute_any_thread, for a context of 1 to RELOCK_COPY_MAX bytes that
 * travels to the thread that runs the section, and back, in the request's own cache line; the
 * section gets the address of that copy. The result is the same as by pointer, one cache line transfer cheaper where the
 * section runs elsewhere, two short copies dearer where it does not wait. A larger size goes by
 * pointer. */
enum { RELOCK_COPY_MAX = 40 };
int relock_execute_copy(relock_mutex_t *mutex, relock_section_t section, void *context,
                        size_t size);
int relock_execute_copy_any_thread(relock_mutex_t *mutex, relock_section_t section, void *context,
                                   size_t size);

/* pthread_mutex_init. lock_class: from RELOCK_CLASS, or null for the default class. attributes:
 * types normal, recursive, errorcheck and adaptive (the same as normal). ENOTSUP: process-shared,
 * robust, or a priority protocol. EINVAL: any other type. Not while the mutex is in use. */
int relock_mutex_init(relock_mutex_t *mutex, const pthread_mutexattr_t *attributes,
                      relock_class_t *lock_class);

/* pthread_mutex_destroy. EBUSY: it is held. The memory may be freed as soon as nobody holds the
 * mutex or waits for it, as by whoever drops the last of several references under it: the others'
 * unlock and relock_execute may be yet to return, once they have released it or their section has
 * run. */
int relock_mutex_destroy(relock_mutex_t *mutex);

/* pthread_mutex_lock. EDEADLK: an errorcheck mutex that the caller holds. EAGAIN: a recursive
 * mutex held too often. A normal mutex that the caller holds: waits for ever. */
int relock_mutex_lock(relock_mutex_t *mutex);

/* pthread_mutex_trylock: passes any queue. EBUSY: it is held (a recursive one by another). */
int relock_mutex_trylock(relock_mutex_t *mutex);

/* pthread_mutex_timedlock (CLOCK_REALTIME) and pthread_mutex_clocklock (CLOCK_REALTIME or
 * CLOCK_MONOTONIC). A timed waiter has no place in the queue: it competes whenever the lock is
 * free. ETIMEDOUT; EINVAL: another clock, or nanoseconds out of range when it has to wait;
 * EDEADLK, EAGAIN as relock_mutex_lock. */
int relock_mutex_timedlock(relock_mutex_t *mutex, const struct timespec *deadline);
int relock_mutex_clocklock(relock_mutex_t *mutex, relock_clockid_t clock,
                           const struct timespec *deadline);

/* pthread_mutex_unlock. EPERM: a recursive or errorcheck mutex that the caller does not hold. A
 * normal mutex may be unlocked by any thread. */
int relock_mutex_unlock(relock_mutex_t *mutex);

/* pthread_cond_init. attributes: the clock of relock_cond_timedwait. ENOTSUP: process-shared. */
int relock_cond_init(relock_cond_t *cond, const pthread_condattr_t *attributes);

/* pthread_cond_destroy. EBUSY: a thread waits. Allowed as soon as every waiter was signalled; waits
 * for those whose deadline has passed to be done with it. (A thread that was signalled and is
 * cancelled before it has noticed passes the signal on: it has to be joined first.) */
int relock_cond_destroy(relock_cond_t *cond);

/* pthread_cond_wait, _timedwait (the clock of the condition variable) and _clockwait, for a
 * holder of the mutex, whatever its algorithm. Cancellation points: a cancelled thread holds the
 * mutex in its cleanup handlers and consumes no signal. No spurious wake-up comes from the
 * runtime, but callers should loop as POSIX asks. ETIMEDOUT; EINVAL: clock or nanoseconds;
 * EPERM: a recursive or errorcheck mutex that the caller does not hold. */
int relock_cond_wait(relock_cond_t *cond, relock_mutex_t *mutex);
int relock_cond_timedwait(relock_cond_t *cond, relock_mutex_t *mutex,
                          const struct timespec *deadline);
int relock_cond_clockwait(relock_cond_t *cond, relock_mutex_t *mutex, relock_clockid_t clock,
                          const struct timespec *deadline);

/* pthread_cond_signal wakes the thread that has waited longest, pthread_cond_broadcast all that
 * wait. Both may be called from a section, and with or without the mutex. Where the caller holds
 * the mutex that the waiters need, or its section runs under it on its own thread or a combiner's,
 * they are woken when it is released: before that they could not go on. Always 0. */
int relock_cond_signal(relock_cond_t *cond);
int relock_cond_broadcast(relock_cond_t *cond);

/* --- Resumable sections ---
 *
 * A section that waits on a condition variable cannot be passed to relock_execute: the thread that
 * runs it serves others. It becomes resumable: at a wait it returns and says where it goes on;
 * whoever ran it turns to the next section; the thread that asked for it sleeps, and once it is
 * signalled has the section run again, which continues behind the wait, perhaps in another thread.
 *
 * The section is a switch over its resume point: `case 0` is its start, and each wait has a number
 * of its own, at which it continues. Apart from that it keeps the text it had with
 * pthread_cond_wait, loops included, with these rules:
 *  - What lives across a wait lies in the context; local variables are new after each. (One that
 *    is set again from the context on each entry, before the switch, does no harm.)
 *  - A wait stands in no inner switch, and no section's own result is RELOCK_WAITS.
 *  - What a wait returned is in `error` of its relock_resume_t, until the next one.
 *
 *   // Example: a bounded queue.
 *   struct queue {
 *     relock_mutex_t lock; // all of it zero-filled, or initialised by the functions
 *     relock_cond_t not_empty, not_full;
 *     int item[4];
 *     unsigned taken, put; // ever
 *   };
 *
 *   struct push_section {
 *     struct queue *queue;
 *     int item;
 *     relock_resume_t resume;
 *   };
 *
 *   static int push_section(void *context) {
 *     struct push_section *section = context;
 *     struct queue *queue = section->queue;
 *     switch (section->resume.at) {
 *     case 0:
 *       while (queue->put - queue->taken == 4)
 *         RELOCK_COND_WAIT(&section->resume, &queue->not_full, 1);
 *       queue->item[queue->put++ % 4] = section->item;
 *       relock_cond_signal(&queue->not_empty);
 *     }
 *     return 0;
 *   }
 *
 *   void push(struct queue *queue, int item) {
 *     struct push_section section = {.queue = queue, .item = item};
 *     relock_execute_resumable(&queue->lock, push_section, &section, &section.resume);
 *   }
 *
 *   // Takes an item within the time, or returns -1.
 *   struct pop_section {
 *     struct queue *queue;
 *     const struct timespec *deadline;
 *     int error; // a variable of the original, which lives across the wait
 *     int item;
 *     relock_resume_t resume;
 *   };
 *
 *   static int pop_section(void *context) {
 *     struct pop_section *section = context;
 *     struct queue *queue = section->queue;
 *     switch (section->resume.at) {
 *     case 0:
 *       section->error = 0;
 *       while (queue->put == queue->taken && section->error == 0) {
 *         RELOCK_COND_TIMEDWAIT(&section->resume, &queue->not_empty, section->deadline, 1);
 *         section->error = section->resume.error;
 *       }
 *       if (queue->put == queue->taken)
 *         return 1;
 *       section->item = queue->item[queue->taken++ % 4];
 *       relock_cond_signal(&queue->not_full);
 *     }
 *     return 0;
 *   }
 *
 *   int pop(struct queue *queue, const struct timespec *deadline) {
 *     struct pop_section section = {.queue = queue, .deadline = deadline};
 *     switch (relock_execute_resumable(&queue->lock, pop_section, &section, &section.resume)) {
 *     case 1:
 *       return -1;
 *     }
 *     return section.item;
 *   }
 *   // End of the example.
 */

/* Where a resumable section goes on. Lies in or beside its context; needs no initialisation. */
typedef struct relock_resume {
  int at;    /* 0: the start; the number of its last wait */
  int error; /* of the last wait: 0, ETIMEDOUT or EINVAL, as of the relock_cond_ function */
  struct {
    relock_cond_t *cond;
    struct timespec deadline;
    relock_clockid_t clock;
    int timing;
  } relock_private;
} relock_resume_t;

/* What a section returns that is to be resumed; no section's own result. */
#define RELOCK_WAITS (-2147483647 - 1)

/* In a resumable section, the waits that relock_cond_wait, _timedwait and _clockwait are for a
 * holder. `point` is a number that no other wait of the section has, from 1 on. Statements, that
 * leave the section and begin it again behind themselves. With EINVAL the section goes on at once,
 * and the mutex was never released. */
#define RELOCK_COND_WAIT(resume, condition, point)                                                 \
  RELOCK_WAIT_AT(resume, condition, RELOCK_WAIT_UNTIMED, point)
#define RELOCK_COND_TIMEDWAIT(resume, condition, until, point)                                     \
  do {                                                                                             \
    (resume)->relock_private.deadline = *(until);                                                  \
    RELOCK_WAIT_AT(resume, condition, RELOCK_WAIT_OWN_CLOCK, point);                               \
  } while (0)
#define RELOCK_COND_CLOCKWAIT(resume, condition, on_clock, until, point)                           \
  do {                                                                                             \
    (resume)->relock_private.clock = (on_clock);                                                   \
    (resume)->relock_private.deadline = *(until);                                                  \
    RELOCK_WAIT_AT(resume, condition, RELOCK_WAIT_CLOCK, point);                                   \
  } while (0)

/* The runtime's own: what the three have in common. */
enum { RELOCK_WAIT_UNTIMED, RELOCK_WAIT_OWN_CLOCK, RELOCK_WAIT_CLOCK };
#define RELOCK_WAIT_AT(resume, condition, how, point)                                              \
  do {                                                                                             \
    (resume)->relock_private.cond = (condition);                                                   \
    (resume)->relock_private.timing = (how);                                                       \
    (resume)->at = (point);                                                                        \
    return RELOCK_WAITS;                                                                           \
  case (point):;                                                                                   \
  } while (0)

/* relock_execute and relock_execute_any_thread for a section that may wait on condition variables,
 * which must be used with this mutex; returns what the section finally returned. `resume` is the
 * one that its waits name.
 *
 * A cancellation point if the section waits: a cancelled thread consumes no signal, holds the mutex
 * in its cleanup handlers, and its section is not continued. Holders and resumable sections wait in
 * one order. Each continuation counts as one more executed section.
 *
 * A recursive mutex that the caller holds already is not released by the wait, as by
 * relock_cond_wait; in a section under the same mutex such a wait stops the program with a message.
 * In a section under another mutex the wait blocks the thread that runs that section, and with it
 * everybody behind: let nothing that has to happen for the signal use the other mutex, or come from
 * a thread that does (it may be the very one that is blocked). Hold the other mutex instead. */
int relock_execute_resumable(relock_mutex_t *mutex, relock_section_t section, void *context,
                             relock_resume_t *resume);
int relock_execute_resumable_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                        void *context, relock_resume_t *resume);

/* --- Sections with work in between ---
 *
 * `lock; A; unlock; B; lock; C; unlock;`, where the three in the middle stand in a loop or a
 * branch, are one section that returns for B, and is entered again behind it. It is a switch over
 * an int in its context, 0 for its start; as above, what lives across B lies in the context.
 *
 *   // Example: a worker, whose jobs run without the lock.
 *   struct work_section {
 *     struct queue *queue;
 *     int item;
 *     int resume;
 *   };
 *
 *   static int work_section(void *context) {
 *     struct work_section *section = context;
 *     switch (section->resume) {
 *     case 0:
 *       while (section->queue->taken != section->queue->put) {
 *         section->item = section->queue->item[section->queue->taken++ % 4];
 *         RELOCK_RETURN_TO(&section->resume, 1);
 *       }
 *     }
 *     return 0;
 *   }
 *
 *   void work(struct queue *queue) {
 *     struct work_section section = {.queue = queue, .resume = 0};
 *     while (relock_execute(&queue->lock, work_section, &section)) {
 *       run(section.item);
 *     }
 *   }
 *   // End of the example.
 *
 * One that also waits has the int in its relock_resume_t, and is run by a function that does not
 * set it to 0. Its points are numbered together with its waits. */

/* Makes a section return `point`, which is not 0, and go on here when it is entered again.
 * `resume_at` points to its int. Statements. */
#define RELOCK_RETURN_TO(resume_at, point)                                                         \
  do {                                                                                             \
    *(resume_at) = (point);                                                                        \
    return (point);                                                                                \
  case (point):;                                                                                   \
  } while (0)

/* relock_execute_resumable and its like, from `resume->at` on, which the caller sets to 0 first.
 * `resume->error` stays what it is. */
int relock_execute_resumable_from(relock_mutex_t *mutex, relock_section_t section, void *context,
                                  relock_resume_t *resume);
int relock_execute_resumable_from_any_thread(relock_mutex_t *mutex, relock_section_t section,
                                             void *context, relock_resume_t *resume);

/* Makes a class known to RELOCK_LOCKS and the statistics; again: no effect. Called by
 * RELOCK_LOCK_CLASS; a class that is used before that is registered by its first use. */
void relock_class_register(relock_class_t *lock_class) RELOCK_IF_LINKED;

/* Called when the program or library that defines the class ends or is closed: only its name and
 * statistics are kept. Its mutexes must not be used by then, unless the process ends. */
void relock_class_remember(relock_class_t *lock_class) RELOCK_IF_LINKED;

/* What the mutexes of a class have done since the process began, or was forked. Always counted;
 * wait_ns only with RELOCK_STATS. Read while other threads count, each number is one that was
 * true a moment ago. */
typedef struct relock_statistics {
  const char *algorithm;
  unsigned server;    /* of rcl and adaptive_rcl, from 1 on; else 0 */
  uint64_t mutexes;   /* initialised or, if never initialised by a call, used */
  uint64_t held;      /* acquisitions by a holder */
  uint64_t executed;  /* sections passed to relock_execute and its variants */
  uint64_t delegated; /* those that another thread ran */
  uint64_t batches;   /* runs of delegated sections that one thread ran for others */
  uint64_t contended; /* operations that had to wait; every request to a server counts */
  uint64_t parked;    /* those that slept */
  uint64_t switches;  /* adaptive: changes between mutex, combiner and server */
  uint64_t wait_ns;   /* until the lock was had, or the section began; of a delegated one, what the
                       * call took without the section */
} relock_statistics_t;

/* lock_class null: the default class. */
void relock_class_statistics(relock_class_t *lock_class, relock_statistics_t *statistics);

/* Writes the statistics of all classes and servers to a file now, in the format of a profile, as
 * RELOCK_STATS=FILE does at exit. The file appears whole or not at all, in the place of one that
 * was there; a pipe or a device is written to. 0 or an error number. Not in a section: it opens and
 * writes a file. */
int relock_statistics_write(const char *file);

/* Iterates over the registered classes: null gives the first, and after the last comes null. A
 * class is memory of the library that defines it, so that no other thread may close that library
 * before the caller has done with the class; where one could, see relock_class_visit. */
relock_class_t *relock_class_next(const relock_class_t *previous);

/* Calls visit(class, context) for each registered class. A thread that closes a library with lock
 * classes, or uses one for the first time, waits until it has returned. visit may call
 * relock_class_statistics, and nothing else that is declared here. */
void relock_class_visit(void (*visit)(relock_class_t *lock_class, void *context), void *context);

/* Gives a class (null: the default class) another algorithm while its mutexes are used: a name from
 * relock_algorithms(), for rcl and adaptive_rcl with ":N" behind it if their server is not 1. No
 * request is lost: those that are posted are served where they are, and exclude the new ones.
 * EINVAL: no such algorithm or server. ENOTSUP: only adaptive, adaptive_rcl and rcl can come and
 * go. */
int relock_class_move(relock_class_t *lock_class, const char *algorithm);

/* --- Servers ---
 *
 * The sections of a class with the algorithm rcl are run by the threads of a server; see
 * runtime/server/README.md. A server starts at the first request, sleeps when there are none, and
 * runs on any processor unless it is given one. */
enum { RELOCK_MAX_SERVERS = 16, RELOCK_MAX_CPUS = 4096, RELOCK_ANY_CPU = -1 };

/* Gives a server (from 1 on) a processor, which its threads do not leave, or RELOCK_ANY_CPU. With a
 * processor of its own they also get SCHED_FIFO where that is permitted; where it is not, a message
 * says so when the server starts. RELOCK_SERVERS has precedence. A server that was refused its
 * processor tries again. EINVAL: no such server or
 * processor number. EBUSY: the server runs already; the call has effect when it is started anew, in
 * a forked child for example. */
int relock_server_place(unsigned server, int cpu) RELOCK_IF_LINKED;

/* Gives a mutex a server of its own, from 1 on, or 0: that of its class, as relock_mutex_init does.
 * For the parts of one structure, whose mutexes are of one class and are used at the same time. Has
 * effect while the class's algorithm has a server (rcl, adaptive_rcl), wherever the class is moved.
 * The mutex may be in use by any thread: requests that are posted are served where they are. EINVAL:
 * more than RELOCK_MAX_SERVERS. */
int relock_mutex_set_server(relock_mutex_t *mutex, unsigned server);

/* Spreads the classes with the algorithm rcl over the servers 1 to `servers` from now on, by what
 * each of them costs the others (runtime/server/balance.c); 0 or 1: leaves them where they are.
 * Classes on other servers stay there, and mutexes with a server of their own. EINVAL: more than
 * RELOCK_MAX_SERVERS; EAGAIN: no thread. */
int relock_servers_balance(unsigned servers);

/* Makes the calling thread's requests to servers be served before those of threads that are not
 * urgent (0: as those of others again). Between two sections of others each urgent thread gets one
 * turn at most, so that with U urgent threads others wait at most 1 + U times as long as without.
 * Where threads run sections of others without a server, an urgent one runs its own only, and is
 * woken as soon as its section has been run.
 * EAGAIN: the thread has no record (see runtime/README.md, Limits). */
int relock_thread_set_urgent(int urgent);

/* Limits the share of a server's time that sections of the calling thread may take while other
 * threads wait for it, in percent: after a section that has taken t it does not ask again for
 * t * (100 - percent) / percent. 100: no limit. EINVAL: not 1 to 100; EAGAIN: as above. */
int relock_thread_limit_share(unsigned percent);

/* Submits a section without waiting for it. The context, up to RELOCK_COPY_MAX bytes, is copied;
 * the result, errno and the copy are lost. The section is one for any thread (see
 * relock_execute_any_thread), and all it does is done to data that the mutex guards. A thread has
 * one submitted section under way. Its next call of relock_submit, relock_execute or any
 * relock_mutex_ or relock_cond_ function waits for it first, and so does its end: others see
 * nothing of the thread through these functions before they see what the section did. Before the
 * thread tells others by other means (atomic variables, pthread functions, a pipe), it calls
 * relock_submitted_wait. Not from within a section. Where the algorithm is not rcl, or the server
 * cannot take the request now, the section has been run when this returns. EINVAL: size. */
int relock_submit(relock_mutex_t *mutex, relock_section_t section, const void *context,
                  size_t size);

/* 1: the section that the calling thread has submitted has been run, and what it did is visible. */
int relock_submitted_is_done(void);

/* Waits for it. */
void relock_submitted_wait(void);

/* A section that is under way, with a result. Opaque; in the memory of its thread. */
typedef union relock_submission {
  struct {
    void *next;
    relock_section_t section;
    void *context;
    int32_t result;
    uint32_t done;
    uint32_t server;
  } relock_private;
  long relock_align;
} relock_submission_t;

/* Submits a section, of the kind that relock_submit takes, whose result is wanted later. Any number
 * may be under way. The context stays where it is; it and the submission belong to the section
 * until relock_submission_wait() has returned, which the calling thread calls once for each, in any
 * order and before it ends. Not from within a section. Sections that a thread submits to one mutex
 * are run in that order. Those for mutexes of different servers may be run in any order and at the
 * same time; one for another mutex of the same server first waits for the others there. Every other
 * call by the thread that relock_submit names waits for all that are under way. A server runs one of
 * a thread's sections in each turn. Where the algorithm is not rcl, the server cannot take the
 * request now, or times are taken (RELOCK_STATS), the section has been run when this returns. */
void relock_submission_start(relock_submission_t *submission, relock_mutex_t *mutex,
                             relock_section_t section, void *context);

/* 1: it has been run, and what it did is visible. By any thread. */
int relock_submission_is_done(const relock_submission_t *submission);

/* Waits for it, and returns what the section returned. */
int relock_submission_wait(relock_submission_t *submission);

/* What a server has done since the process began, or was forked. */
typedef struct relock_server_statistics {
  uint64_t sections;
  uint64_t passes;            /* over its clients' slots */
  uint64_t active_passes;     /* those with a section */
  double use_rate;            /* sections per active pass and live client: 1 when all always ask */
  double false_serialization; /* share of the active passes with sections of several mutexes, */
                              /* which two servers could have run at the same time */
  double slow_rate; /* share of the sections run while another thread of it was in a section */
  uint64_t manager_wakes; /* looks of its manager after sections that last */
  uint64_t activations;   /* of further threads, because all were in sections that last */
  uint64_t sleeps;        /* for want of requests */
  uint64_t
      cache_misses; /* of its threads, where the machine counts them, with RELOCK_STATS; or 0 */
  unsigned threads; /* that serve or are in sections */
  unsigned clients; /* threads that have a slot, at all servers */
  int cpu;          /* -1: any */
  int realtime;     /* has SCHED_FIFO */
} relock_server_statistics_t;

/* EINVAL: no such server. One that was never used has zeros. */
int relock_server_statistics(unsigned server, relock_server_statistics_t *statistics);

/* The names of all algorithms, separated by blanks. */
const char *relock_algorithms(void);

/* Ends the program with status 2 and a message with the valid names when RELOCK_LOCKS or
 * RELOCK_STATS has a wrong algorithm or value. Of an unknown lock class it warns, or ends the
 * program where RELOCK_STRICT=1. Called at start, by the main program's constructors of lowest
 * priority, when all classes of the program and its libraries are registered; a call from a shared
 * library has no effect. */
void relock_check_options(void) RELOCK_IF_LINKED;

#ifndef RELOCK_BUILDING_RUNTIME
__attribute__((constructor)) static void relock_check_options_at_start(void) {
  if (relock_check_options)
    relock_check_options();
  __asm__ __volatile__(""); /* no tail call: the callee looks at where it was called from */
}
#endif

/* Names a lock class, with its algorithm. Stands in the generated relock_locks.h; weak, so that
 * every translation unit may include it and all share one object. */
#define RELOCK_LOCK_CLASS(id, class_name, algorithm_name)                                          \
  extern relock_class_t relock_class_##id; /* -Wmissing-variable-declarations */                   \
  __attribute__((weak)) relock_class_t relock_class_##id = {                                       \
      class_name, algorithm_name, 0, 0, 0, 0, 0, 0, {0}};                                          \
  __attribute__((constructor(101))) static void relock_register_##id(void) {                       \
    if (relock_class_register)                                                                     \
      relock_class_register(&relock_class_##id);                                                   \
  }                                                                                                \
  __attribute__((destructor(101))) static void relock_remember_##id(void) {                        \
    if (relock_class_remember)                                                                     \
      relock_class_remember(&relock_class_##id);                                                   \
  }                                                                                                \
  struct relock_class

/* Gives a server, named by its number, a processor or RELOCK_ANY_CPU, before the program begins.
 * Stands in the generated relock_locks.h, too. */
#define RELOCK_SERVER_PLACE(server, cpu)                                                           \
  __attribute__((constructor(101))) static void relock_place_server_##server(void) {               \
    (void)sizeof(char[(server) >= 1 && (server) <= RELOCK_MAX_SERVERS &&                           \
                              (cpu) >= RELOCK_ANY_CPU && (cpu) < RELOCK_MAX_CPUS                   \
                          ? 1                                                                      \
                          : -1]);                                                                  \
    if (relock_server_place)                                                                       \
      relock_server_place(server, cpu);                                                            \
  }                                                                                                \
  struct relock_class

#define RELOCK_CLASS(id) (&relock_class_##id)

/* Static initialisers, for a class defined before by RELOCK_LOCK_CLASS. */
#define RELOCK_MUTEX_INITIALIZER(id)                                                               \
  {{&relock_class_##id, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_NORMAL, 0}}
#define RELOCK_RECURSIVE_MUTEX_INITIALIZER(id)                                                     \
  {{&relock_class_##id, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_RECURSIVE, 0}}
#define RELOCK_ERRORCHECK_MUTEX_INITIALIZER(id)                                                    \
  {{&relock_class_##id, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_ERRORCHECK, 0}}
#define RELOCK_COND_INITIALIZER {{0, 0, 0, 0, 0, 0, 0}}

/* The same for the default class, which needs no definition. All bytes zero are a normal mutex. */
#define RELOCK_DEFAULT_MUTEX_INITIALIZER {{0, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_NORMAL, 0}}
#define RELOCK_DEFAULT_RECURSIVE_MUTEX_INITIALIZER                                                 \
  {{0, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_RECURSIVE, 0}}
#define RELOCK_DEFAULT_ERRORCHECK_MUTEX_INITIALIZER                                                \
  {{0, 0, 0, 0, 0, 0, 0, 0, 0, RELOCK_TYPE_ERRORCHECK, 0}}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
