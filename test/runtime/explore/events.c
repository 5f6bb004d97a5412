/* SPDX-License-Identifier: MIT
 *
 * What happens to a thread besides running: it ends and another one begins, it is cancelled, it
 * forks, a signal comes. The functions of the C library and of the kernel by which the runtime
 * hears of that (libc.h, os.c).
 */
#include "engine.h"
#include "scenarios.h"

#include "../../../runtime/base/os.h"
#include "../../../runtime/base/signals.h"
#include "../../../runtime/base/thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* --- ends and beginnings --------------------------------------------------------------------- */

static void (*at_end)(void *record); /* the destructor of the runtime's one key */

int explore_key_create(pthread_key_t *key, void (*destructor)(void *));
int explore_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  at_end = destructor;
  return pthread_key_create(key, NULL);
}

void end_thread(void) {
  trace(CALLER, "the thread ends");
  if (relock_own_record)
    at_end(relock_own_record);
}

void begin_thread(void) {
  trace(CALLER, "a new thread begins");
  fiber_renew(current);
}

/* --- cancellation ---------------------------------------------------------------------------- */

static __attribute__((noreturn)) void unwind(void) {
  struct thread *self = current;
  self->cancel = CANCEL_UNDER_WAY;
  saw(CANCEL_UNDER_WAY);
  if (self->cleanups == 0)
    thread_ended();
  const struct cleanup *last = &self->cleanup[--self->cleanups];
  self->calls = last->calls;
  siglongjmp(last->buffer, 1);
}

void cancellation_point(void) {
  struct thread *self = current;
  if (self && self->cancel == CANCEL_ASKED && !self->uncancellable) {
    trace(CALLER, "is cancelled");
    unwind();
  }
}

void cancel_thread(int id) {
  schedule_point(true);
  struct thread *target = &threads[id];
  trace(CALLER, "cancels thread %d", id);
  if (target->state == ENDED || target->cancel != CANCEL_NONE)
    return;
  target->cancel = CANCEL_ASKED;
  if (target->state == ASLEEP && target->asynchronous && !target->uncancellable)
    wake_thread(target);
  state_changed();
}

void explore_testcancel(void);
void explore_testcancel(void) {
  if (!current)
    return;
  schedule_point(true);
  cancellation_point();
}

/* What the runtime does while it is asynchronous is futex_wait() only, os.c. */
int explore_setcanceltype(int type, int *previous);
int explore_setcanceltype(int type, int *previous) {
  if (!current)
    return 0;
  if (previous)
    *previous = current->asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
  current->asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  return 0;
}

int explore_setcancelstate(int state, int *previous);
int explore_setcancelstate(int state, int *previous) {
  if (!current)
    return 0;
  if (previous)
    *previous = current->uncancellable ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
  current->uncancellable = state == PTHREAD_CANCEL_DISABLE;
  return 0;
}

/* pthread_cleanup_push, pthread_cleanup_pop, and the end of a handler. */
void explore_register_cancel(void *buffer);
void explore_register_cancel(void *buffer) {
  struct thread *self = current;
  if (!self)
    return;
  if (self->cleanups == MAX_CLEANUPS) {
    fprintf(stderr, "explore: too many cleanup handlers\n");
    abort();
  }
  self->cleanup[self->cleanups++] = (struct cleanup){buffer, self->calls};
}
void explore_unregister_cancel(void *buffer);
void explore_unregister_cancel(void *buffer) {
  (void)buffer;
  if (current)
    current->cleanups--;
}
__attribute__((noreturn)) void explore_unwind_next(void *buffer);
void explore_unwind_next(void *buffer) {
  (void)buffer;
  unwind();
}

/* --- fork ------------------------------------------------------------------------------------ */

static void (*before_fork)(void), (*in_parent)(void), (*in_child)(void);
static bool forked;

int explore_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int explore_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
  before_fork = before;
  in_parent = parent;
  in_child = child;
  return 0;
}

/* An execution goes on as one of the two processes. The child's memory is that of one moment. */
bool fork_process(void) {
  before_fork();
  schedule_point(true);
  if (!choose_child()) {
    in_parent();
    return false;
  }
  trace(CALLER, "goes on as the child of a fork");
  forked = true;
  for (int i = 0; i < thread_count; i++)
    if (&threads[i] != current) {
      threads[i].state = ENDED;
      threads[i].in_decrement = false;
    }
  memory_copied();
  in_child();
  return true;
}

bool is_child(void) { return forked; }

/* --- signals --------------------------------------------------------------------------------- */

static struct relock_signal_action actions[RELOCK_SIGNALS];
static uint64_t nobodys_blocked; /* outside of executions */
static bool seen_handlers;

void set_handler(int number, relock_handler_t *handler) {
  actions[number] =
      (struct relock_signal_action){.handler = (uintptr_t)handler, .flags = SA_SIGINFO};
  seen_handlers = true;
}

bool handlers_are_seen(void) { return seen_handlers; }

void signal_action(int number, const struct relock_signal_action *set,
                   struct relock_signal_action *found) {
  if (found)
    *found = actions[number];
  if (set)
    actions[number] = *set;
}

static void send(struct thread *target, int number) {
  const uint64_t bit = relock_signal_bit(number);
  trace(CALLER, "sends signal %d to thread %d", number, target->id);
  if (target->state == ENDED)
    return;
  target->pending |= bit;
  if (target->state == ASLEEP && !(target->blocked & bit))
    wake_thread(target);
  state_changed();
}

void signal_thread(int id, int number) {
  schedule_point(true);
  send(&threads[id], number);
  take_signals();
}

int thread_id_of(const struct thread *thread) {
  return thread->id + 1 + (thread->renewed ? MAX_THREADS : 0);
}

void interrupt_thread(int thread_id) {
  schedule_point(true);
  for (int i = 0; i < thread_count; i++)
    if (thread_id_of(&threads[i]) == thread_id)
      send(&threads[i], RELOCK_SIGNAL_SETXID);
  let_others_run();
}

/* As the kernel does: on the thread's own stack, with the pointer that the thread has then. What
 * the handler interrupts may be a wait that has not yet read how it ended. */
static void run_handler(int number) {
  struct thread *self = current;
  const uint64_t blocked = self->blocked;
  const bool timed_out = self->timed_out;
  siginfo_t info = {.si_signo = number};
  ucontext_t context;
  memset(&context, 0, sizeof context);
  memcpy(&context.uc_sigmask, &blocked, sizeof blocked);
  trace(CALLER, "a handler of signal %d begins", number);
  saw((uint64_t)number);
  self->blocked |= actions[number].mask | relock_signal_bit(number);
  ((relock_handler_t *)actions[number].handler)(number, &info, &context);
  self->blocked = blocked;
  self->timed_out = timed_out;
  trace(CALLER, "the handler of signal %d ends", number);
  saw((uint64_t)number);
}

void take_signals(void) {
  struct thread *self = current;
  while (self && (self->pending & ~self->blocked) && !self->in_decrement) {
    const int number = __builtin_ctzll(self->pending & ~self->blocked) + 1;
    self->pending &= ~relock_signal_bit(number);
    run_handler(number);
  }
}

uint64_t block_signals(void) {
  uint64_t *mask = current ? &current->blocked : &nobodys_blocked;
  const uint64_t blocked = *mask;
  *mask = UINT64_MAX;
  return blocked;
}

void restore_signals(uint64_t blocked) {
  *(current ? &current->blocked : &nobodys_blocked) = blocked;
  take_signals();
}

int running_thread(void) { return current->id; }

void events_begin(void) { forked = false; }
