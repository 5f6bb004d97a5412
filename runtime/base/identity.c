/* SPDX-License-Identifier: MIT
 *
 * Switching the thread pointer.
 *
 * Invariant: relock_run_as() returns with the thread pointer it was entered with. Since callers
 * see an unchanged register before and after, no compiler assumption about thread-local addresses
 * breaks in them; inside, the section is a function of its own, called through a pointer, that
 * starts and ends under one identity. The function below must not be inlined into code that uses
 * thread-local variables, and uses none itself (the stack protector's canary is the same in all
 * threads).
 *
 * Who uses an identity. Invariant: code that can see a thread's thread-local variables, errno among
 * them, runs on one processor at a time, and nested as it would be without delegation. A client
 * that waits sees none of them; what does is its section, wherever that runs, or a handler that has
 * interrupted the client's wait. The states of the identity of a client with requests under way:
 *
 *                   runs_as = client, handlers == 0
 *         WAITING ----------------------------------> in its SECTION, elsewhere
 *          |   ^  <----------------------------------
 *          |   |    runs_as = 0   : the section is over, or a handler has interrupted it
 *          |   |
 *          |   | handlers == 0
 *          v   |
 *         in a HANDLER, on the client's own stack: handlers > 0, and no runs_as names the client
 *
 * `runs_as` is in the record of the thread that runs the section, `handlers` in the client's. Each
 * side writes its own, then looks at the other's (Dekker), and the runner gives way: it withdraws,
 * waits for the handler's end, and tries again. The handler waits until no runner names its thread
 * (signals.c), asleep on `runs_as` if it lasts; the runner that has stored 0 looks for handlers.
 * Sections are many and handlers few, so where the kernel can make all threads pass a barrier, the
 * runner's steps are plain stores and plain loads, and the handler makes the barrier between its
 * own.
 *
 * A handler that interrupts the section gives the identity back for as long as it lasts. So a
 * thread that is stopped in a section of another lets that other's handlers run, and stops the
 * section, as they would have been interrupted both without delegation. When the handler has ended,
 * the section has to wait for handlers of its client still; signals come meanwhile.
 *
 * A thread's record is its own here and not a client's: a thread that runs a client's section runs
 * none of others inside it (relock_thread_has_room()).
 */
#include "identity.h"

#include "atomic.h"
#include "os.h"
#include "rseq.h"
#include "signals.h"
#include "thread.h"
#include "wait.h"
#include "word.h"

#include <stddef.h>

/* Present when any part of the program is built with that sanitizer. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));

/* Present when the program is compiled with -fsplit-stack: every function compares the stack
 * pointer with a limit that hangs off the thread pointer. */
extern void __morestack(void) __attribute__((weak));

/* Restartable sequences: the kernel knows the area of the thread that runs, code in a section would
 * announce its sequence in the client's, and a preemption in it would go unnoticed. The C library
 * registers the areas (2.35 on) and has no sequences itself; allocators with caches per processor
 * do. Present with those that are known by name: librseq, tcmalloc. */
extern void rseq_register_current_thread(void) __attribute__((weak));
extern void TCMallocInternalMalloc(void) __attribute__((weak));
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* Any other user gives itself away by the descriptor that its last sequence in this thread has left
 * in the area. One that describes itself is no code: the profiler's mark, see profiler/processor.h.
 */
static bool thread_has_sequence(void) {
  enum { START_OF_SEQUENCE = 1 };
  if (!&__rseq_size || __rseq_size == 0)
    return false;
  const struct relock_rseq *area =
      (const struct relock_rseq *)(relock_thread_pointer() + (uintptr_t)__rseq_offset);
  const uint64_t last = relock_load_relaxed(&area->rseq_cs);
  return last && ((const uint64_t *)(uintptr_t)last)[START_OF_SEQUENCE] != last;
}

enum { SWITCH_UNKNOWN, SWITCH_WORKS, SWITCH_FORBIDDEN };
static uint32_t switch_state;

static bool program_forbids_switch(void) {
  bool sanitized = __asan_init || __tsan_init || __msan_init || __hwasan_init;
  return sanitized || __morestack || rseq_register_current_thread || TCMallocInternalMalloc;
}

bool relock_identity_switchable(void) {
  uint32_t state = relock_load_relaxed(&switch_state);
  if (RELOCK_UNLIKELY(state == SWITCH_UNKNOWN)) {
    const bool works =
        relock_may_set_thread_pointer() && !program_forbids_switch() && relock_signals_start();
    state = works ? SWITCH_WORKS : SWITCH_FORBIDDEN;
    relock_store_relaxed(&switch_state, state);
  }
  if (RELOCK_UNLIKELY(state == SWITCH_WORKS && thread_has_sequence())) {
    state = SWITCH_FORBIDDEN; /* for good */
    relock_store_relaxed(&switch_state, state);
  }
  return state == SWITCH_WORKS;
}

bool relock_identity_movable(struct relock_thread *self) {
  if (RELOCK_UNLIKELY(self && self->handlers)) {
    if (self->asks)
      return false;
    self->handlers = 0; /* one has left its section by siglongjmp() */
  }
  return relock_identity_switchable();
}

/* Says whose identity the thread uses, before the look at that one's handlers: pairs with
 * relock_handler_begins(), signals.c, which makes a barrier if it can. Release: pairs with the load
 * in await_runner(), for what sections have done, another client's among them. */
static inline void set_runs_as(struct relock_thread *self, uint32_t who) {
  if (RELOCK_LIKELY(relock_barrier_works())) {
    relock_store_release(&self->runs_as, who);
    relock_keep_order();
  } else {
    (void)relock_exchange_seq_cst(&self->runs_as, who);
  }
}

static inline bool has_handlers(const struct relock_thread *client) {
  /* Acquire: pairs with the release in relock_handler_ends(). */
  return RELOCK_UNLIKELY(relock_load_seq_cst(&client->handlers) != 0);
}

static inline void give(struct relock_thread *self, const struct relock_thread *client) {
  set_runs_as(self, 0);
  if (has_handlers(client))
    relock_os->futex_wake(&self->runs_as, INT32_MAX);
}

/* Handlers of the client come first. */
static __attribute__((noinline)) void take_again(struct relock_thread *self,
                                                 struct relock_thread *client) {
  do {
    give(self, client);
    uint32_t handlers;
    for (uint32_t spins = relock_wait_spins();
         (handlers = relock_load_relaxed(&client->handlers)) != 0; spins -= spins > 0) {
      if (spins > 0)
        relock_pause();
      else
        relock_os->futex_wait(&client->handlers, handlers, CLOCK_MONOTONIC, NULL);
    }
    set_runs_as(self, client->number + 1);
  } while (has_handlers(client));
}

static inline void take(struct relock_thread *self, struct relock_thread *client) {
  set_runs_as(self, client->number + 1);
  if (has_handlers(client))
    take_again(self, client);
}

void relock_identity_take(struct relock_thread *self, struct relock_thread *client) {
  take(self, client);
}

void relock_identity_give(struct relock_thread *self, const struct relock_thread *client) {
  give(self, client);
}

__attribute__((noinline)) int relock_run_as(struct relock_thread *self,
                                            struct relock_thread *client, relock_section_t section,
                                            void *context) {
  if (RELOCK_UNLIKELY(client == self))
    return section(context);
  take(self, client);
  const uintptr_t own = relock_thread_pointer();
  relock_set_thread_pointer(client->thread_pointer);
  int result = section(context);
  relock_set_thread_pointer(own);
  give(self, client);
  return result;
}
