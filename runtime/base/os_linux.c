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
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long futex(const uint32_t *word, long operation, long value, const struct timespec *deadline,
                  long bits) {
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
  /* The kernel refuses times before the epoch, which are simply past. It has to compare the value
   * nevertheless: see relock_word_park(). */
  static const struct timespec epoch;
  if (deadline && deadline->tv_sec < 0)
    deadline = &epoch;
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

static bool prepare_barrier(void) {
  int saved = errno;
  bool works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
               syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  errno = saved;
  return works;
}

/* Cannot fail once it has worked, and then does not touch errno. */
static void barrier(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

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

/* The node of each processor, from sysfs; read once. */
enum { MAX_CPUS = 4096, MAX_NODES = 64 };
static uint8_t node_of_cpu[MAX_CPUS];

/* Adds the processors of a list like "0-3,8" to a node. */
static void add_cpus(char *list, unsigned node) {
  for (char *at = list, *rest; (at = strtok_r(at, ",", &rest)); at = NULL) {
    char *end;
    unsigned long first = strtoul(at, &end, 10);
    unsigned long last = *end == '-' ? strtoul(end + 1, NULL, 10) : first;
    for (unsigned long cpu = first; cpu <= last && cpu < MAX_CPUS; cpu++)
      node_of_cpu[cpu] = (uint8_t)node;
  }
}

/* Without the C library's allocator, which may use locks of ours. */
static void read_nodes(void) {
  int saved = errno;
  unsigned count = 0;
  for (unsigned node = 0; node < MAX_NODES; node++) {
    char path[64], list[4096];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      continue;
    ssize_t length = read(file, list, sizeof list - 1);
    close(file);
    if (length <= 1) /* a node without processors: an empty line */
      continue;
    list[length] = '\0';
    add_cpus(list, count++);
  }
  errno = saved;
}

static unsigned cpu(void) {
  int number = sched_getcpu();
  return number >= 0 ? (unsigned)number : 0;
}

static unsigned node(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_nodes);
  unsigned number = cpu();
  return number < MAX_CPUS ? node_of_cpu[number] : 0;
}

static void *reserve(size_t size) {
  int saved = errno;
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = saved;
  return memory == MAP_FAILED ? NULL : memory;
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
  /* Those that a section causes itself go to the program's handlers, as in its own thread. */
  static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
    sigdelset(&all, synchronous[i]);
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

static bool is_first_thread(void) { return syscall(SYS_gettid) == getpid(); }

static const struct relock_os os_linux = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .yield = yield,
    .prepare_barrier = prepare_barrier,
    .barrier = barrier,
    .now_ns = now_ns,
    .cpus = cpus,
    .cpu = cpu,
    .node = node,
    .reserve = reserve,
    .start_thread = start_thread,
    .is_first_thread = is_first_thread,
};

const struct relock_os *const relock_os = &os_linux;
