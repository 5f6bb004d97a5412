/* SPDX-License-Identifier: MIT
 *
 * The operating system of a simulated machine, in the place of base/os_linux.c: calls take the time
 * that the machine says, futexes keep their sleepers in order, and the clock is the current
 * thread's. Before anything is simulated there is one thread, and nobody to wait for.
 */
#include "system.h"

#include "../base/os.h"
#include "../base/signals.h"
#include "entry.h"
#include "processors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static const struct sim_machine *machine;

void sim_system_start(const struct sim_machine *simulated) { machine = simulated; }

static void call_system(void) {
  if (!sim_current)
    return;
  sim_loop_acts();
  sim_work(machine->system_call);
  sim_turn();
}

/* --- futexes --------------------------------------------------------------------------------- */

/* Sleepers, the first to wake first. */
enum { LISTS = 1024 };
static struct sim_thread *sleepers[LISTS];

static struct sim_thread **list_of(const uint32_t *word) {
  return &sleepers[((uintptr_t)word / sizeof *word * 0x9e3779b97f4a7c15u) >> 54];
}

static void append(struct sim_thread *thread, const uint32_t *word) {
  struct sim_thread **at = list_of(word);
  while (*at)
    at = &(*at)->next;
  thread->word = word;
  thread->next = NULL;
  *at = thread;
}

static void take_out(struct sim_thread *thread) {
  struct sim_thread **at = list_of(thread->word);
  while (*at != thread)
    at = &(*at)->next;
  *at = thread->next;
  thread->word = NULL;
}

void sim_thread_overslept(struct sim_thread *thread) { take_out(thread); }

static struct sim_thread *first_sleeper(const uint32_t *word) {
  struct sim_thread *thread = *list_of(word);
  while (thread && thread->word != word)
    thread = thread->next;
  return thread;
}

/* Clocks of all kinds are one. */
static uint64_t cycles_of(const struct timespec *time) {
  if (!time || time->tv_sec > INT32_MAX)
    return UINT64_MAX;
  return sim_cycles(machine, (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
}

static int futex_wait(uint32_t *word, uint32_t expected, clockid_t clock,
                      const struct timespec *deadline) {
  (void)clock;
  if (!sim_current) {
    fprintf(stderr, "relock-simulator: a wait before anything is simulated\n");
    abort();
  }
  call_system();
  if (*word != expected)
    return 0;
  struct sim_thread *self = sim_current;
  append(self, word);
  return sim_sleep(cycles_of(deadline)) ? ETIMEDOUT : 0;
}

static void futex_wake(const uint32_t *word, int count) {
  if (!sim_current)
    return;
  call_system();
  for (struct sim_thread *thread; count > 0 && (thread = first_sleeper(word)); count--) {
    take_out(thread);
    sim_work(sim_waking(thread));
    sim_thread_wake(thread);
  }
}

static void futex_move(const uint32_t *from, const uint32_t *to) {
  if (!sim_current)
    return;
  call_system();
  for (struct sim_thread *thread; (thread = first_sleeper(from));) {
    take_out(thread);
    append(thread, to);
  }
}

static void shared_futex_wait(uint32_t *word, uint32_t expected) {
  futex_wait(word, expected, CLOCK_MONOTONIC, NULL);
}

/* --- threads and time ------------------------------------------------------------------------ */

static void yield(void) {
  call_system();
  if (sim_current)
    sim_offer();
}

/* What it is for, a change without a LOCK prefix, is x86-64's. */
static bool prepare_barrier(void) { return machine && machine->total_store_order; }

/* membarrier(2): every processor that runs a thread of the process is interrupted. */
static void barrier(void) {
  call_system();
  if (!sim_current)
    return;
  sim_interrupt_others(machine->interrupt);
  sim_work(machine->interrupt);
}

static uint64_t now_ns(void) {
  if (!sim_current)
    return 0;
  sim_work(machine->clock_read);
  return sim_ns(machine, sim_clock());
}

static unsigned cpus(void) { return machine ? sim_processors(machine) : 1; }
static unsigned cpu(void) { return sim_current ? sim_current->processor : 0; }
static unsigned node(void) { return sim_node_of_core(machine, sim_core_of(machine, cpu())); }

static void *reserve(size_t size) {
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static int start_thread(void *(*run)(void *), void *argument, const char *name) {
  call_system();
  return sim_thread_start(run, argument, name, -1, true) ? 0 : EAGAIN;
}

static int thread_id(void) { return sim_current ? (int)sim_current->number + 1 : 0; }
static bool may_use_cpu(unsigned number) { return number < cpus(); }

static void pin(unsigned number) {
  call_system();
  if (sim_current && may_use_cpu(number))
    sim_thread_bind((int)number);
}

/* SCHED_FIFO and the counters of the hardware are not modelled. */
static bool may_be_realtime(void) { return false; }
static void make_realtime(unsigned level) { (void)level; }
static void requeue(int id, unsigned level) { (void)id, (void)level; }
static int count_misses(int earlier) { return earlier; }
static uint64_t read_counter(int counter) {
  (void)counter;
  return 0;
}

/* --- the process, which has no signals ------------------------------------------------------- */

static bool is_first_thread(void) { return !sim_current; }
static int process_id(void) { return 1; }
bool relock_sigaction_is_ours(void) { return false; }
static bool signal_action(int number, const struct relock_signal_action *set,
                          struct relock_signal_action *found) {
  (void)number, (void)set, (void)found;
  return false;
}
static uint64_t block_signals(void) { return 0; }
static void restore_signals(uint64_t blocked) { (void)blocked; }
static void interrupt(int id) { (void)id; }
static struct relock_slice *slice(void) { return NULL; }
static void end_slice(void) {}

static const struct relock_os simulated_os = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .futex_move = futex_move,
    .shared_futex_wait = shared_futex_wait,
    .shared_futex_wake = futex_wake,
    .yield = yield,
    .prepare_barrier = prepare_barrier,
    .barrier = barrier,
    .now_ns = now_ns,
    .cpus = cpus,
    .cpu = cpu,
    .node = node,
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
    .signal_action = signal_action,
    .block_signals = block_signals,
    .restore_signals = restore_signals,
    .interrupt = interrupt,
    .slice = slice,
    .end_slice = end_slice,
};

const struct relock_os *const relock_os = &simulated_os;
