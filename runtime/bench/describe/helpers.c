/* SPDX-License-Identifier: MIT
 *
 * Threads on other processors: one that does what it is asked, to bring lines into a state, and
 * crowds that do the same, to contend.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../../base/arch.h"
#include "../bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void *allocate_lines(size_t size) {
  void *memory = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
  if (!memory)
    fail(2, "no memory");
  return memset(memory, 0, size);
}

static pthread_t start_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, run, argument);
  if (error)
    fail(2, "cannot start a thread: %s", strerror(error));
  return thread;
}

struct helper {
  _Alignas(LINE) uint32_t turn; /* odd: the helper's */
  void (*run)(void);            /* null: it ends */
  _Alignas(LINE) pthread_t thread;
  int cpu;
};

static void *help(void *argument) {
  struct helper *helper = argument;
  pin(helper->cpu);
  for (uint32_t turn = 1;; turn += 2) {
    while (__atomic_load_n(&helper->turn, __ATOMIC_ACQUIRE) != turn)
      relock_pause();
    if (!helper->run)
      return NULL;
    helper->run();
    __atomic_store_n(&helper->turn, turn + 1, __ATOMIC_RELEASE);
  }
}

struct helper *start_helper(int cpu) {
  struct helper *helper = allocate_lines(sizeof *helper);
  helper->cpu = cpu;
  helper->thread = start_thread(help, helper);
  return helper;
}

static uint32_t give_turn(struct helper *helper, void (*run)(void)) {
  const uint32_t turn = helper->turn + 1;
  helper->run = run;
  __atomic_store_n(&helper->turn, turn, __ATOMIC_RELEASE);
  return turn;
}

void ask_helper(struct helper *helper, void (*run)(void)) {
  const uint32_t turn = give_turn(helper, run);
  while (__atomic_load_n(&helper->turn, __ATOMIC_ACQUIRE) != turn + 1)
    continue;
}

void end_helper(struct helper *helper) {
  give_turn(helper, NULL);
  pthread_join(helper->thread, NULL);
  free(helper);
}

/* --- crowds ---------------------------------------------------------------------------------- */

struct crowd {
  int count;
  uint64_t start_ns;
  struct crowd_thread {
    struct member member;
    pthread_t thread;
    void (*run)(struct member *);
    bool shared; /* other programs had its processor for a while */
  } threads[];
};

/* Of the one crowd that there is at a time. A thread that is late must not miss that it has begun.
 */
enum { GATHERS, RUNS, ENDS };
static _Alignas(LINE) uint32_t crowd_state;
static _Alignas(LINE) uint32_t crowd_ready;

bool crowd_goes_on(void) { return __atomic_load_n(&crowd_state, __ATOMIC_RELAXED) == RUNS; }

/* What this thread has had of its processor. */
static uint64_t processor_ns(void) {
  struct timespec had;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &had);
  return (uint64_t)had.tv_sec * 1000000000u + (uint64_t)had.tv_nsec;
}

static void *join_crowd(void *argument) {
  struct crowd_thread *thread = argument;
  pin(thread->member.cpu);
  __atomic_fetch_add(&crowd_ready, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&crowd_state, __ATOMIC_ACQUIRE) == GATHERS)
    relock_pause();
  const uint64_t start = now_ns(), had = processor_ns();
  thread->run(&thread->member);
  thread->shared = processor_ns() - had < (now_ns() - start) / 10 * 9;
  return NULL;
}

struct crowd *start_crowd(const struct processor *const *on, int count,
                          void (*run)(struct member *)) {
  struct crowd *crowd = allocate_lines(sizeof *crowd + (size_t)count * sizeof(struct crowd_thread));
  crowd->count = count;
  crowd_state = GATHERS;
  crowd_ready = 0;
  for (int i = 0; i < count; i++) {
    crowd->threads[i].member.index = i;
    crowd->threads[i].member.cpu = on[i]->number;
    crowd->threads[i].run = run;
    crowd->threads[i].thread = start_thread(join_crowd, &crowd->threads[i]);
  }
  while (__atomic_load_n(&crowd_ready, __ATOMIC_ACQUIRE) != (uint32_t)count)
    sched_yield(); /* one of them may need this thread's processor */
  crowd->start_ns = now_ns();
  __atomic_store_n(&crowd_state, RUNS, __ATOMIC_RELEASE);
  return crowd;
}

struct rates end_crowd(struct crowd *crowd, int ms) {
  if (ms)
    sleep_ms(ms);
  __atomic_store_n(&crowd_state, ENDS, __ATOMIC_RELEASE);
  const double taken = (double)(now_ns() - crowd->start_ns);
  struct rates rates = {0, 0};
  bool shared = false;
  for (int i = 0; i < crowd->count; i++) {
    const struct crowd_thread *thread = &crowd->threads[i];
    pthread_join(thread->thread, NULL);
    rates.done += (double)thread->member.done / taken;
    rates.moved += (double)thread->member.moved / taken;
    shared = shared || thread->shared;
  }
  free(crowd);
  return shared ? (struct rates){0, 0} : rates;
}
