/* SPDX-License-Identifier: MIT
 *
 * Operating system services on Linux.
 *
 * The futex calls go to the kernel directly: a client that sleeps while another thread runs its
 * section with its thread pointer must not touch errno, not even to save and restore it, because
 * the section may set it meanwhile.
 */
#define _GNU_SOURCE
#include "os.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static long futex(const uint32_t *word, long operation, long value,
                  const struct timespec *deadline, long bits) {
#if defined(__x86_64__)
  register const struct timespec *arg4 __asm__("r10") = deadline;
  register const void *arg5 __asm__("r8") = NULL;
  register long arg6 __asm__("r9") = bits;
  long result;
  __asm__ __volatile__("syscall"
                       : "=a"(result)
                       : "a"((long)SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(arg4),
                         "r"(arg5), "r"(arg6)
                       : "rcx", "r11", "memory");
  return result;
#else
  register long number __asm__("x8") = SYS_futex;
  register long result __asm__("x0") = (long)word;
  register long arg2 __asm__("x1") = operation;
  register long arg3 __asm__("x2") = value;
  register const struct timespec *arg4 __asm__("x3") = deadline;
  register const void *arg5 __asm__("x4") = NULL;
  register long arg6 __asm__("x5") = bits;
  __asm__ __volatile__("svc 0"
                       : "+r"(result)
                       : "r"(number), "r"(arg2), "r"(arg3), "r"(arg4), "r"(arg5), "r"(arg6)
                       : "memory");
  return result;
#endif
}

static int futex_wait(uint32_t *word, uint32_t expected, clockid_t clock,
                      const struct timespec *deadline) {
  /* The kernel refuses times before the epoch, which are simply past. */
  if (deadline && deadline->tv_sec < 0)
    return ETIMEDOUT;
  int operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
  if (clock == CLOCK_REALTIME)
    operation |= FUTEX_CLOCK_REALTIME;
  long result = futex(word, operation, expected, deadline, FUTEX_BITSET_MATCH_ANY);
  return result == -ETIMEDOUT ? ETIMEDOUT : 0;
}

static void futex_wake(const uint32_t *word, int count) {
  futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, 0);
}

static void yield(void) { sched_yield(); }

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned cpus(void) {
  int saved = errno;
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  if (count == 0) /* more processors than cpu_set_t holds */
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  errno = saved;
  return count > 0 ? (unsigned)count : 1;
}

static int start_thread(void *(*run)(void *), void *argument, const char *name) {
  int saved = errno;
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error)
    return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, run, argument);
  if (!error)
    pthread_setname_np(thread, name);
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
  pthread_attr_destroy(&attributes);
  errno = saved;
  return error;
}

static const struct relock_os os_linux = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .yield = yield,
    .now_ns = now_ns,
    .cpus = cpus,
    .start_thread = start_thread,
};

const struct relock_os *const relock_os = &os_linux;
