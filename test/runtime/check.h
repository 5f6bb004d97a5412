/* SPDX-License-Identifier: MIT
 *
 * What the runtime's test programs share: a check that ends the program with a message, a
 * watchdog, and threads that are started together.
 */
#ifndef RELOCK_TEST_CHECK_H
#define RELOCK_TEST_CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline pid_t kernel_thread(void) { return (pid_t)syscall(SYS_gettid); }

/* Whether the runtime runs sections with their clients' identity here. */
static inline bool switches_identity(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__x86_64__)
  return getauxval(AT_HWCAP2) & 2;
#else
  return true;
#endif
}

/* Names the running case in messages. */
extern const char *check_case;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      check_failed(__FILE__, __LINE__, #condition);                                                \
  } while (0)

#define CHECK_EQUAL(actual, expected)                                                              \
  do {                                                                                             \
    long check_actual = (long)(actual), check_expected = (long)(expected);                         \
    if (check_actual != check_expected)                                                            \
      check_differs(__FILE__, __LINE__, #actual, check_actual, check_expected);                    \
  } while (0)

__attribute__((noreturn)) static inline void check_failed(const char *file, int line,
                                                          const char *what) {
  fprintf(stderr, "%s:%d: %s: failed: %s\n", file, line, check_case, what);
  _exit(1);
}

__attribute__((noreturn)) static inline void
check_differs(const char *file, int line, const char *what, long actual, long expected) {
  fprintf(stderr, "%s:%d: %s: %s is %ld, not %ld\n", file, line, check_case, what, actual,
          expected);
  _exit(1);
}

static inline uint64_t next_random(uint64_t *state) { /* xorshift64* */
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545f4914f6cdd1dull >> 16;
}

static inline double check_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* That many milliseconds from now, on that clock. */
static inline struct timespec check_deadline(clockid_t clock, long milliseconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += milliseconds / 1000;
  time.tv_nsec += milliseconds % 1000 * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec++;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

static inline pthread_t check_start(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, run, argument), 0);
  return thread;
}

static inline void check_join(pthread_t thread) { CHECK_EQUAL(pthread_join(thread, NULL), 0); }

/* Whether the child of a threaded process can start threads. Neither ThreadSanitizer nor qemu's
 * user mode, which ends the child with an assertion of its own, lets it. */
static inline int check_child_starts_threads(void) {
#ifdef __SANITIZE_THREAD__
  return 0;
#else
  return getenv("TEST_EMULATOR") == NULL;
#endif
}

/* Runs count threads over the same function and waits for all. */
static inline void check_run_threads(int count, void *(*run)(void *), void *argument) {
  pthread_t *threads = malloc((size_t)count * sizeof *threads);
  for (int i = 0; i < count; i++)
    threads[i] = check_start(run, argument);
  for (int i = 0; i < count; i++)
    check_join(threads[i]);
  free(threads);
}

#endif
