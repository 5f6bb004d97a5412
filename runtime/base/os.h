/* SPDX-License-Identifier: MIT
 *
 * The services that the runtime needs from the operating system, as a table, so that the same
 * algorithm sources can run on another implementation (a simulator, a schedule explorer).
 * No function changes errno; the futex calls, yield, barrier, now_ns, thread_id, process_id,
 * interrupt and those of slices do not even write it.
 */
#ifndef RELOCK_BASE_OS_H
#define RELOCK_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The kernel's struct of the same layout. */
struct relock_signal_action {
  uintptr_t handler; /* 0: default, 1: ignored */
  unsigned long flags;
  uintptr_t restorer;
  uint64_t mask;
};

/* Of the C library (glibc's), on the way of setuid() to each thread. */
enum { RELOCK_SIGNAL_SETXID = 33, RELOCK_SIGNAL_CANCEL = 32 };

/* Where a thread asks the kernel for a little more of its time slice, some microseconds, so that it
 * does not lose its processor just now: it sets `asks`. The kernel clears that and sets `granted`
 * when it would have taken the processor; `granted` it clears when it has. Written by the thread
 * that it belongs to, and on its behalf by the kernel. */
struct relock_slice {
  uint8_t asks, granted;
};

struct relock_os {
  /* Sleeps while *word == expected until woken, until the deadline on that clock (null: for
   * ever), or for no reason. ETIMEDOUT when the deadline has passed, else 0: look again. */
  int (*futex_wait)(uint32_t *word, uint32_t expected, clockid_t clock,
                    const struct timespec *deadline);
  /* Wakes up to count sleepers. Uses the address only: the memory may be gone or reused, in which
   * case the wake-up is one for no reason. */
  void (*futex_wake)(const uint32_t *word, int count);
  /* Whoever sleeps on one word sleeps on the other from now on. Uses the addresses only. */
  void (*futex_move)(const uint32_t *from, const uint32_t *to);
  /* The same for a word that processes share, without a deadline. */
  void (*shared_futex_wait)(uint32_t *word, uint32_t expected);
  void (*shared_futex_wake)(const uint32_t *word, int count);
  void (*yield)(void);
  /* Every thread of the process has passed a full barrier between two of its instructions when
   * barrier() returns. Only if prepare_barrier() was called before in this process and returned
   * true: false where the kernel cannot or may not do it. */
  bool (*prepare_barrier)(void);
  void (*barrier)(void);
  uint64_t (*now_ns)(void); /* monotonic */
  /* Those that this process may use at a time: of those that it may run on, as many as the quota of
   * its control groups is worth. At load: the thread that asks may have less. At least 1. */
  unsigned (*cpus)(void);
  unsigned (*cpu)(void);  /* the processor that runs the caller */
  unsigned (*node)(void); /* and its NUMA node, counted from 0 without gaps */
  /* Zero-filled memory that is never given back and takes no room until it is touched; null if
   * there is none. */
  void *(*reserve)(size_t size);
  /* Starts a detached thread that may use the processors of the process, with all signals blocked
   * but those that it causes itself. 0 or an error number. */
  int (*start_thread)(void *(*run)(void *), void *argument, const char *name);
  int (*thread_id)(void); /* of the caller, as the kernel counts */
  bool (*may_use_cpu)(unsigned cpu);
  void (*pin)(unsigned cpu); /* the calling thread; without effect if it may not use it */
  /* Whether threads may have SCHED_FIFO; gives it to the calling thread, at one of few levels
   * counted from 0; moves a thread that has it behind the others of that level. */
  bool (*may_be_realtime)(void);
  void (*make_realtime)(unsigned level);
  void (*requeue)(int thread_id, unsigned level);
  /* Counts the misses of the last-level cache of the calling thread: a handle, or 0 where there is
   * no such counter; and what any thread reads from it. The handle of an earlier counter, or 0, is
   * used again if it can be: other threads may be about to read from it. */
  int (*count_misses)(int earlier);
  uint64_t (*read_counter)(int counter);
  bool (*is_first_thread)(void); /* the caller is the thread that the process began with */
  int (*process_id)(void);
  /* What the kernel has for a signal, those included that the C library keeps to itself; `set` may
   * be null. False: that cannot be. */
  bool (*signal_action)(int number, const struct relock_signal_action *set,
                        struct relock_signal_action *found);
  /* All signals of the calling thread, which no C library lets pass: those that were blocked. */
  uint64_t (*block_signals)(void);
  void (*restore_signals)(uint64_t blocked);
  /* Makes the thread enter the C library's handler for setuid(), which does nothing then. Only if
   * there is one. */
  void (*interrupt)(int thread_id);
  /* The calling thread's; null: the kernel does not have it. Whoever was granted some gives the
   * processor up by end_slice(), as soon as that hurts nobody: there are others for it. */
  struct relock_slice *(*slice)(void);
  void (*end_slice)(void);
};

extern const struct relock_os *const relock_os __attribute__((visibility("hidden")));

/* A time that now_ns() counts, for the deadlines of CLOCK_MONOTONIC. */
static inline struct timespec relock_time(uint64_t ns) {
  return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

#endif
