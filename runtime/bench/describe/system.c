/* SPDX-License-Identifier: MIT
 *
 * What the system takes: calls, sleeping and waking, yielding, barriers that stop other processors;
 * and what the runtime asks the processor for, pauses and the thread pointer.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../../base/arch.h"
#include "../bench.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Alignas(LINE) uint32_t word;
static _Alignas(LINE) uint64_t woken_at;

static void pause_once(void) { relock_pause(); }
static void read_clock(void) { now_ns(); }
static void wake_nobody(void) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static void yield(void) { sched_yield(); }
static void barrier(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }
static void set_thread_pointer(void) { relock_set_thread_pointer(relock_thread_pointer()); }

#define NO_MORE UINT32_MAX

/* Sleeps each time until the word is odd, then says when that was. */
static void sleep_and_wake(struct member *member) {
  (void)member;
  for (uint32_t seen; (seen = __atomic_load_n(&word, __ATOMIC_ACQUIRE)) != NO_MORE;) {
    if (seen % 2 == 0) {
      syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, 0, 0, 0);
      continue;
    }
    __atomic_store_n(&woken_at, relock_ticks(), __ATOMIC_RELAXED);
    __atomic_store_n(&word, seen + 1, __ATOMIC_RELEASE);
  }
}

/* A thread on another core that sleeps is woken, several times; in ns. */
struct waking {
  double call, until_it_runs; /* of the call, and from its end on; below 0: it was never asleep */
};

static void spin_ns(double duration) {
  const uint64_t end = relock_ticks() + (uint64_t)(duration * ticks_per_second() * 1e-9);
  while (relock_ticks() < end)
    continue;
}

/* Its processor has been idle for about so long. */
static struct waking measure_waking_after(double idle_ns, int most) {
  enum { TRIES = 15, SLEEP_NS = 1000000 };
  double taken[TRIES], until[TRIES];
  const struct processor *other = cores[1];
  __atomic_store_n(&word, 0, __ATOMIC_RELAXED);
  struct crowd *sleeper = start_crowd(&other, 1, sleep_and_wake);
  int slept = 0;
  for (uint32_t i = 0; i < 4 * TRIES && slept < most && (slept == 0 || !round_is_over()); i++) {
    if (idle_ns >= SLEEP_NS)
      sleep_ms((int)(idle_ns / SLEEP_NS));
    else
      spin_ns(idle_ns);
    const uint64_t start = relock_ticks();
    __atomic_store_n(&word, 2 * i + 1, __ATOMIC_RELEASE);
    const long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    const uint64_t end = relock_ticks();
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != 2 * i + 2)
      continue;
    taken[slept] = ns_of((double)(end - start));
    until[slept] = ns_of((double)(woken_at - start));
    slept += woken == 1;
  }
  __atomic_store_n(&word, NO_MORE, __ATOMIC_RELEASE);
  wake_nobody();
  end_crowd(sleeper, 0);
  if (slept == 0)
    return (struct waking){-1, -1};
  const double call = median(taken, slept);
  return (struct waking){call, fmax(0, median(until, slept) - call)};
}

/* An idle processor looks for work for a while before it stops; then it must be interrupted, and
 * comes back later. */
static void measure_waking(double call) {
  enum { TRIES = 15, FEW = 5, EARLY_NS = 1000, LATE_NS = 1000000, LAST_NS = 512000 };
  const struct waking late = measure_waking_after(LATE_NS, TRIES);
  note(WAKING, late.call - call);
  note(WAKE_UP, late.until_it_runs);
  const struct waking early = measure_waking_after(EARLY_NS, TRIES);
  if (early.call < 0 || round_is_over())
    return;
  note(EARLY_WAKING, fmax(0, early.call - call));
  note(EARLY_WAKE_UP, early.until_it_runs);
  const double middle = sqrt(early.until_it_runs * late.until_it_runs);
  double doze = EARLY_NS;
  while (doze < LAST_NS && measure_waking_after(2 * doze, FEW).until_it_runs < middle)
    doze *= 2;
  note(DOZE, doze);
}

static void yield_on(struct member *member) {
  (void)member;
  while (crowd_goes_on())
    sched_yield();
}

static void spin_on(struct member *member) {
  (void)member;
  while (crowd_goes_on())
    continue;
}

/* While a thread on that processor does this. */
static double beside_ns(const struct processor *where, void (*run)(struct member *),
                        void (*timed)(void), int times) {
  struct crowd *crowd = start_crowd(&where, 1, run);
  const double taken = repeat_ns(timed, times);
  end_crowd(crowd, 0);
  return taken;
}

static void measure_barriers(double call) {
  enum { BARRIERS = 30 };
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
    return;
  note(MEMBARRIER, repeat_ns(barrier, BARRIERS));
  if (core_count > 1 && !round_is_over())
    note(INTERRUPT, beside_ns(cores[1], spin_on, barrier, BARRIERS) - call);
}

void measure_system(void) {
  enum { CALLS = 300, YIELDS = 2, OTHERS_NS = 100000 };
  pin(processors[0].number);
  const double call = repeat_ns(wake_nobody, CALLS);
  note(SYSTEM_CALL, call);
  note_cycles(PAUSE, repeat_ns(pause_once, CALLS));
  note(CLOCK_READ, repeat_ns(read_clock, CALLS));
  const double alone = repeat_ns(yield, YIELDS);
  note(YIELD, alone);
  if (relock_may_set_thread_pointer())
    note(THREAD_POINTER, repeat_ns(set_thread_pointer, CALLS));
  if (alone < OTHERS_NS && !round_is_over()) /* else it would be a switch to another program */
    note(CONTEXT_SWITCH, beside_ns(&processors[0], yield_on, yield, YIELDS) - call);
  measure_barriers(call);
  if (core_count > 1 && !round_is_over())
    measure_waking(call);
}

void print_system(void) {
  putchar('\n');
  for (int id = SYSTEM_CALL; id <= CLOCK_READ; id++)
    print_figure(&figures[id]);
  char text[40] = "";
  FILE *stream = fopen("/sys/kernel/debug/sched/base_slice_ns", "re");
  const bool has_slice = stream && fgets(text, sizeof text, stream);
  if (stream)
    fclose(stream);
  const long slice = has_slice ? strtol(text, NULL, 10) : 0;
  if (slice >= 1000 && slice <= 1000000000)
    print_line("slice", (double)slice, "ns", "the kernel's base_slice_ns");
  else
    print_line("slice", 3000000, "ns", "guess: the kernel does not show its base_slice_ns");
  for (int id = YIELD; id <= THREAD_POINTER; id++)
    print_figure(&figures[id]);
  if (!relock_may_set_thread_pointer())
    printf("# The processor or the kernel does not let a program set its thread pointer.\n");
}
