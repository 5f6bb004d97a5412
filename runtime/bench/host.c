/* SPDX-License-Identifier: MIT
 *
 * What the machine gives at the moment. A virtual one is moved by its host: two of its processors
 * are near at one time and far apart at another one, and run at different speeds. So this is
 * measured before and after each repetition, where its threads run, in about a millisecond.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_ms(int duration) {
  struct timespec rest = {duration / 1000, duration % 1000 * 1000000L};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
    continue;
}

double ticks_per_second(void) {
  static double frequency;
  if (frequency == 0) {
    uint64_t start_ns = now_ns(), start = relock_ticks();
    sleep_ms(100);
    uint64_t end_ns = now_ns(), end = relock_ticks();
    frequency = (double)(end - start) * 1e9 / (double)(end_ns - start_ns);
  }
  return frequency;
}

/* A chain of additions, a cycle each. Of registers: some processors add constants for nothing. */
void spend_cycles(int cycles) {
  enum { CHAIN = 8 };
  uint64_t sum = 0, one = 1;
  for (int i = 0; i < cycles; i += CHAIN)
#if defined(__x86_64__)
    __asm__ __volatile__("add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
                         "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0"
                         : "+r"(sum)
                         : "r"(one));
#else
    __asm__ __volatile__("add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
                         "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
                         "add %0, %0, %1\n\tadd %0, %0, %1"
                         : "+r"(sum)
                         : "r"(one));
#endif
}

double ticks_per_cycle(void) {
#if defined(__x86_64__)
  return 1;
#else
  /* The counter is slower than the processor. The best of some tries was disturbed least. */
  static double best;
  if (best == 0) {
    enum { ADDITIONS = 8000000, TRIES = 9 };
    uint64_t least = UINT64_MAX;
    for (int try = 0; try < TRIES; try++) {
      uint64_t start = relock_ticks();
      spend_cycles(ADDITIONS);
      uint64_t taken = relock_ticks() - start;
      least = taken < least ? taken : least;
    }
    best = (double)least / ADDITIONS;
  }
  return best;
#endif
}

void measure_clock(struct host *host) {
  enum { ADDITIONS = 80000, TRIES = 5 };
  uint64_t least = UINT64_MAX;
  for (int try = 0; try < TRIES; try++) {
    uint64_t start_ns = now_ns(), start = relock_ticks();
    spend_cycles(ADDITIONS);
    uint64_t counted = relock_ticks() - start, taken = now_ns() - start_ns;
    if (taken == 0 || taken >= least)
      continue;
    least = taken;
    host->cycles_per_ns = ADDITIONS / (double)taken;
    host->ticks_per_ns = (double)counted / (double)taken;
  }
}

/* --- a line's transfer: two threads hand one to and fro -------------------------------------- */

enum { BATCHES = 64, LEAST_BATCHES = 4, ROUNDS = 8, MOST_MS = 5, LAST = -1 };

static struct {
  _Alignas(128) int turn; /* odd: the answering thread's */
  _Alignas(128) struct host *host;
} line;

static void *answer(void *unused) {
  for (int turn;; __atomic_store_n(&line.turn, turn + 1, __ATOMIC_RELEASE)) {
    do
      turn = __atomic_load_n(&line.turn, __ATOMIC_ACQUIRE);
    while (turn % 2 == 0);
    if (turn == LAST)
      return unused;
  }
}

/* The lower quartile of the batches, some of which contain preemptions. */
static void *ask(void *unused) {
  double batch[BATCHES];
  int batches = 0, turn = 0;
  const uint64_t limit = now_ns() + MOST_MS * 1000000u;
  measure_clock(line.host);
  while (batches < BATCHES && (batches < LEAST_BATCHES || now_ns() < limit)) {
    const uint64_t start = relock_ticks();
    for (int i = 0; i < ROUNDS; i++, turn += 2) {
      __atomic_store_n(&line.turn, turn + 1, __ATOMIC_RELEASE);
      while (__atomic_load_n(&line.turn, __ATOMIC_ACQUIRE) != turn + 2)
        continue;
    }
    batch[batches++] = (double)(relock_ticks() - start) / (2 * ROUNDS);
  }
  __atomic_store_n(&line.turn, LAST, __ATOMIC_RELEASE);
  qsort(batch, (size_t)batches, sizeof *batch, ascending);
  line.host->transfer_ns = batch[batches / 4] * 1e9 / ticks_per_second();
  return unused;
}

static void start(pthread_t *thread, void *(*run)(void *), int cpu) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  }
  int error = pthread_create(thread, &attributes, run, NULL);
  if (error)
    fail(2, "cannot start a thread: %s", strerror(error));
  pthread_attr_destroy(&attributes);
}

void measure_host(int first_cpu, int second_cpu, bool pin, struct host *host) {
  pthread_t asking, answering;
  memset(host, 0, sizeof *host);
  if (first_cpu == second_cpu) { /* there is no way for the line */
    measure_clock(host);
    return;
  }
  line.turn = 0;
  line.host = host;
  start(&answering, answer, pin ? second_cpu : -1);
  start(&asking, ask, pin ? first_cpu : -1);
  pthread_join(asking, NULL);
  pthread_join(answering, NULL);
}
