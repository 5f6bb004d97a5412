/* SPDX-License-Identifier: MIT
 *
 * The operating system of the modelled threads, in the place of base/os_linux.c.
 *
 * Outside of executions (constructors, scenarios' preparations) there is one thread, and nobody
 * to wait for.
 */
#include "engine.h"
#include "scenarios.h"

#include "../../../runtime/base/os.h"
#include "../../../runtime/base/signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* The clock advances by a microsecond whenever it is read; a jump is longer than any time that
 * the runtime measures. */
enum { TICK = 1000, LONG_TIME = 10000000 };

/* Outside of executions, where pauses are measured: so that waits spin twice. */
enum { CALIBRATION_TICK = 40000 };

unsigned processors = 1;
static bool managers;
void set_managers(bool are_started) { managers = are_started; }
static uint64_t now, now_before;

static char *memory;
static size_t memory_used, memory_used_before;
enum { MEMORY = 1 << 28 };

static void nobody_to_wait_for(void) {
  fprintf(stderr, "explore: a wait outside of an execution\n");
  abort();
}

static int futex_wait(uint32_t *word, uint32_t expected, clockid_t clock,
                      const struct timespec *deadline) {
  (void)clock;
  if (!current)
    nobody_to_wait_for();
  schedule_point(true);
  struct thread *self = current;
  self->vain_yields = 0;
  if (self->asynchronous)
    cancellation_point();
  if (newest_value(word) != expected) {
    trace(CALLER, "futex wait on %s: not %x", address_name(word), expected);
    saw(0);
    return 0;
  }
  trace(CALLER, "futex wait on %s while %x: sleeps", address_name(word), expected);
  self->futex = word;
  self->timed = deadline && deadline->tv_sec != NEVER;
  self->timed_out = false;
  saw(1);
  block(ASLEEP);
  saw(self->timed_out);
  self->futex = NULL;
  if (self->asynchronous)
    cancellation_point();
  return self->timed_out ? ETIMEDOUT : 0;
}

static void futex_wake(const uint32_t *word, int count) {
  if (!current)
    return;
  schedule_point(true);
  for (; count > 0; count--) {
    struct thread *sleepers[MAX_THREADS];
    unsigned found = 0;
    for (int i = 0; i < thread_count; i++)
      if (threads[i].state == ASLEEP && threads[i].futex == word)
        sleepers[found++] = &threads[i];
    if (found == 0) {
      trace(CALLER, "futex wake on %s: nobody sleeps", address_name(word));
      saw(MAX_THREADS);
      return;
    }
    struct thread *woken = sleepers[choose_sleeper(found)];
    wake_thread(woken);
    saw((uint64_t)woken->id);
    state_changed();
    trace(CALLER, "futex wake on %s: thread %d", address_name(word), woken->id);
  }
}

static void futex_move(const uint32_t *from, const uint32_t *to) {
  if (!current)
    return;
  schedule_point(true);
  for (int i = 0; i < thread_count; i++) {
    if (threads[i].state != ASLEEP || threads[i].futex != from)
      continue;
    threads[i].futex = (uint32_t *)to;
    trace(CALLER, "futex move of thread %d to %s", threads[i].id, address_name(to));
  }
}

static void yield(void) {
  if (current)
    yield_thread();
}

static uint64_t now_ns(void) {
  now += current ? TICK : CALIBRATION_TICK;
  if (current && choose_clock_jump()) {
    trace(CALLER, "a long time passes");
    now += LONG_TIME;
  }
  saw(now);
  return now;
}

static unsigned cpus(void) { return processors; }

static int start_thread(void *(*run)(void *), void *argument, const char *name) {
  if (!current)
    nobody_to_wait_for();
  /* A server's manager measures time, which makes spaces large. */
  if (!managers && strcmp(name, "relock-manager") == 0)
    return EAGAIN;
  struct thread *thread = start_fiber(run, argument);
  if (!thread)
    return EAGAIN;
  thread->daemon = true;
  trace(CALLER, "starts thread %d, %s", thread->id, name);
  return 0;
}

static bool prepare_barrier(void) { return true; }

/* While another thread is between the load and the store of the owner's decrement, which stand
 * for one instruction, the barrier waits. */
static void barrier(void) {
  if (!current)
    return;
  schedule_point(true);
  saw(0);
  trace(CALLER, "barrier");
  if (!barrier_is_open(current))
    block(AT_BARRIER);
  full_barrier();
  trace(CALLER, "barrier is passed");
}

static int thread_id(void) {
  const struct thread *self = current ? current : fiber_called();
  return self ? thread_id_of(self) : 2 * MAX_THREADS + 1;
}

/* Servers float, and have no privilege. */
static bool may_use_cpu(unsigned cpu) {
  (void)cpu;
  return false;
}
static void pin(unsigned cpu) { (void)cpu; }
static bool may_be_realtime(void) { return false; }
static void make_realtime(unsigned level) { (void)level; }
static void requeue(int id, unsigned level) { (void)id, (void)level; }
static int count_misses(int earlier) { return earlier; }
static uint64_t read_counter(int counter) {
  (void)counter;
  return 0;
}

static bool is_first_thread(void) { return !current; }

static unsigned cpu(void) { return current ? (unsigned)current->id : 0; }

static void *reserve(size_t size) {
  if (!memory) {
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED)
      return NULL;
  }
  size = (size + 4095) & ~(size_t)4095;
  if (memory_used + size > MEMORY)
    return NULL;
  memory_used += size;
  saw(memory_used);
  return memory + memory_used - size;
}

bool relock_sigaction_is_ours(void) { return handlers_are_seen(); }

/* What an execution reserves, the next one finds zero-filled again. */
void os_set_up(void) {
  memory_used_before = memory_used;
  now_before = now;
}

uint64_t os_digest(void) { return mixed(now, memory_used); }

void os_begin(void) {
  memory_used = memory_used_before;
  now = now_before;
}

static int process_id(void) { return is_child() ? 2 : 1; }
static bool change_action(int number, const struct relock_signal_action *set,
                          struct relock_signal_action *found) {
  signal_action(number, set, found);
  return true;
}
static struct relock_slice *slice(void) { return NULL; }
static void end_slice(void) {}

static const struct relock_os os_explored = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .futex_move = futex_move,
    .yield = yield,
    .prepare_barrier = prepare_barrier,
    .barrier = barrier,
    .now_ns = now_ns,
    .cpus = cpus,
    .cpu = cpu,
    .node = cpu,
    .reserve = reserve,
    .start_thread = start_thread,
    .thread_id = thread_id,
    .may_use_cpu = may_use_cpu,
    .pin = pin,
    .may_be_realtime = may_be_realtime,
    .make_realtime = make_realtime,
    .requeue = requeue,
    .count_misses = count_misses,
    .read_counter = read_counter,
    .is_first_thread = is_first_thread,
    .process_id = process_id,
    .signal_action = change_action,
    .block_signals = block_signals,
    .restore_signals = restore_signals,
    .interrupt = interrupt_thread,
    .slice = slice,
    .end_slice = end_slice,
};

const struct relock_os *const relock_os = &os_explored;
