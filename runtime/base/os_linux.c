/* SPDX-License-Identifier: MIT
 *
 * Operating system services on Linux.
 *
 * The calls that wait go to the kernel directly, and what the trampoline of signals.c calls: a
 * client that waits while another thread runs its section with its thread pointer must not touch
 * errno, not even to save and restore it, because the section may set it meanwhile.
 */
#define _GNU_SOURCE
#include "os.h"

#include "arch.h"
#include "atomic.h"
#include "panic.h"
#include "quota.h"
#include "rseq.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* syscall(2) without errno: a negative error number. */
static long kernel(long number, long first, long second, long third, long fourth, long fifth,
                   long sixth) {
#if defined(__x86_64__)
  register long arg4 __asm__("r10") = fourth;
  register long arg5 __asm__("r8") = fifth;
  register long arg6 __asm__("r9") = sixth;
  long result;
  __asm__ __volatile__("syscall"
                       : "=a"(result)
                       : "a"(number), "D"(first), "S"(second), "d"(third), "r"(arg4), "r"(arg5),
                         "r"(arg6)
                       : "rcx", "r11", "memory");
  return result;
#else
  register long call __asm__("x8") = number;
  register long result __asm__("x0") = first;
  register long arg2 __asm__("x1") = second;
  register long arg3 __asm__("x2") = third;
  register long arg4 __asm__("x3") = fourth;
  register long arg5 __asm__("x4") = fifth;
  register long arg6 __asm__("x5") = sixth;
  __asm__ __volatile__("svc 0"
                       : "+r"(result)
                       : "r"(call), "r"(arg2), "r"(arg3), "r"(arg4), "r"(arg5), "r"(arg6)
                       : "memory");
  return result;
#endif
}

/* timeout: of a wait; of a requeue, how many move. */
static long futex(const uint32_t *word, long operation, long value, const void *timeout,
                  const uint32_t *other, long bits) {
  return kernel(SYS_futex, (long)word, operation, value, (long)timeout, (long)other, bits);
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
  long result = futex(word, operation, expected, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
  return result == -ETIMEDOUT ? ETIMEDOUT : 0;
}

static void futex_wake(const uint32_t *word, int count) {
  futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

static void futex_move(const uint32_t *from, const uint32_t *to) {
  const void *most = (const void *)(uintptr_t)INT_MAX;
  futex(from, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG, 0, most, to, 0);
}

static void shared_futex_wait(uint32_t *word, uint32_t expected) {
  futex(word, FUTEX_WAIT_BITSET, expected, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void shared_futex_wake(const uint32_t *word, int count) {
  futex(word, FUTEX_WAKE, count, NULL, NULL, 0);
}

static void yield(void) { sched_yield(); }

static bool prepare_barrier(void) {
  int saved = errno;
  bool works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
               syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  errno = saved;
  return works;
}

/* Does not touch errno. Once it has worked only a filter can make it fail: what rests on it would
 * lose wake-ups and sections then. */
static void barrier(void) {
  if (RELOCK_UNLIKELY(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0))
    relock_panic(
        "membarrier(2) has worked and does not any more (error %d): probably the program has "
        "forbidden it to itself (seccomp). Permit it, or set RELOCK_TUNE=membarrier=0 "
        "[barrier-refused]",
        errno);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The processors of the process are those of the thread that loads it: later, any thread may bind
 * itself to one of them. The set is larger than cpu_set_t, so that it holds those of any machine.
 */
enum { MAX_CPUS = 4096 };
static unsigned char process_cpus[MAX_CPUS / 8];
static unsigned process_cpu_count;
static unsigned process_cpu_quota; /* of their time, in processors; 0: all */

__attribute__((constructor(102))) static void read_cpus(void) {
  int saved = errno;
  unsigned count = 0;
  if (syscall(SYS_sched_getaffinity, 0, sizeof process_cpus, process_cpus) > 0)
    for (size_t i = 0; i < sizeof process_cpus; i++)
      count += (unsigned)__builtin_popcount(process_cpus[i]);
  process_cpu_count = count;
  process_cpu_quota = relock_quota("");
  errno = saved;
}

static unsigned cpus(void) {
  if (process_cpu_count == 0) /* asked by a constructor that comes before this one */
    read_cpus();
  const unsigned count = process_cpu_count > 0 ? process_cpu_count : 1;
  return process_cpu_quota > 0 && process_cpu_quota < count ? process_cpu_quota : count;
}

/* The node of each processor, from sysfs; read once. */
enum { MAX_NODES = 64 };
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
  /* The caller may be bound to a processor, by the program or as a server: one that spins there
   * would keep a thread that is yet to unbind itself from it for ever. */
  if (process_cpu_count > 0)
    pthread_attr_setaffinity_np(&attributes, sizeof process_cpus, (const void *)process_cpus);
  sigset_t all, previous;
  sigfillset(&all);
  /* Those that a section causes itself go to the program's handlers, as in its own thread. */
  static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
    sigdelset(&all, synchronous[i]);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_t thread;
  error = pthread_create(&thread, &attributes, run, argument);
  if (error) { /* none of the processors is there any more, or a filter of system calls forbids */
    pthread_attr_setaffinity_np(&attributes, 0, (const void *)process_cpus); /* as its creator's */
    error = pthread_create(&thread, &attributes, run, argument);
  }
  if (!error)
    pthread_setname_np(thread, name);
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
  pthread_attr_destroy(&attributes);
  errno = saved;
  return error;
}

static int thread_id(void) { return (int)kernel(SYS_gettid, 0, 0, 0, 0, 0, 0); }

static bool may_use_cpu(unsigned cpu) {
  return cpu < MAX_CPUS && cpus() > 0 && process_cpus[cpu / 8] >> cpu % 8 & 1;
}

static void pin(unsigned cpu) {
  int saved = errno;
  unsigned char set[MAX_CPUS / 8] = {0};
  set[cpu / 8] = (unsigned char)(1u << cpu % 8);
  syscall(SYS_sched_setaffinity, 0, sizeof set, set);
  errno = saved;
}

/* Above what other programs are likely to have, below what keeps a machine running. */
enum { LEAST_PRIORITY = 2 };

static bool set_priority(int id, unsigned level, int flags) {
  int saved = errno;
  const struct sched_param priority = {.sched_priority = LEAST_PRIORITY + (int)level};
  bool done = sched_setscheduler(id, SCHED_FIFO | flags, &priority) == 0;
  errno = saved;
  return done;
}

/* Not under ThreadSanitizer: its own locks spin, and a thread of higher priority on the processor
 * of the holder spins for ever. */
static bool may_be_realtime(void) {
  if (RELOCK_UNDER_TSAN)
    return false;
  int saved = errno;
  int policy = sched_getscheduler(0);
  struct sched_param priority;
  bool may = policy >= 0 && sched_getparam(0, &priority) == 0 &&
             set_priority(0, 0, policy & SCHED_RESET_ON_FORK);
  if (may)
    sched_setscheduler(0, policy, &priority);
  errno = saved;
  return may;
}

/* Threads that a section starts, of another server for one, do not inherit it. */
static void make_realtime(unsigned level) { set_priority(0, level, SCHED_RESET_ON_FORK); }

/* A thread whose priority is lowered and raised again is the last of its equals. */
static void requeue(int id, unsigned level) {
  if (set_priority(id, level - 1, SCHED_RESET_ON_FORK))
    set_priority(id, level, SCHED_RESET_ON_FORK);
}

/* Programs that close all descriptors close the runtime's, too, and get the number for their own.
 */
static bool is_counter(int descriptor) {
  uint64_t id;
  return descriptor > 0 && ioctl(descriptor, PERF_EVENT_IOC_ID, &id) == 0;
}

static int count_misses(int earlier) {
  int saved = errno;
  struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                       .size = sizeof attributes,
                                       .config = PERF_COUNT_HW_CACHE_MISSES,
                                       .exclude_kernel = 1};
  long counter = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (counter > 0 && is_counter(earlier) && dup3((int)counter, earlier, O_CLOEXEC) == earlier) {
    close((int)counter);
    counter = earlier;
  }
  errno = saved;
  return counter > 0 ? (int)counter : 0;
}

static uint64_t read_counter(int counter) {
  int saved = errno;
  uint64_t value = 0;
  if (is_counter(counter) && read(counter, &value, sizeof value) != sizeof value)
    value = 0;
  errno = saved;
  return value;
}

static bool is_first_thread(void) { return syscall(SYS_gettid) == getpid(); }

static int process_id(void) { return (int)kernel(SYS_getpid, 0, 0, 0, 0, 0, 0); }

static bool signal_action(int number, const struct relock_signal_action *set,
                          struct relock_signal_action *found) {
  int saved = errno;
  bool done = syscall(SYS_rt_sigaction, number, set, found, sizeof set->mask) == 0;
  errno = saved;
  return done;
}

static uint64_t block_signals(void) {
  const uint64_t all = UINT64_MAX;
  uint64_t blocked = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &blocked, sizeof all);
  return blocked;
}

static void restore_signals(uint64_t blocked) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
}

/* The handler looks at si_code, and acts upon SI_TKILL only. */
static void interrupt(int id) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = RELOCK_SIGNAL_SETXID;
  info.si_code = SI_QUEUE;
  info.si_pid = process_id();
  kernel(SYS_rt_tgsigqueueinfo, info.si_pid, id, RELOCK_SIGNAL_SETXID, (long)&info, 0, 0);
}

/* Time slices that are extended: Linux 7.0, Documentation/userspace-api/rseq.rst. The kernel says
 * in the area that it has them, so that no other kernel is asked; it does not say so to C libraries
 * older than glibc 2.41, which register an area of the first size. */
enum {
  SLICE_PRCTL = 79, /* PR_RSEQ_SLICE_EXTENSION, its _SET, PR_RSEQ_SLICE_EXT_ENABLE */
  SLICE_SET = 2,
  SLICE_ENABLE = 1,
  SLICE_YIELD = 471 /* rseq_slice_yield(2), on each architecture */
};

static struct relock_slice *slice(void) {
  const uint32_t *processor = relock_processor_known(relock_thread_pointer());
  if (!processor)
    return NULL;
  struct relock_rseq *area =
      (struct relock_rseq *)((uintptr_t)processor - offsetof(struct relock_rseq, cpu_id));
  const uint32_t flags = relock_load_relaxed(&area->flags);
  if (!(flags & RELOCK_SLICE_AVAILABLE) ||
      (!(flags & RELOCK_SLICE_ENABLED) &&
       kernel(SYS_prctl, SLICE_PRCTL, SLICE_SET, SLICE_ENABLE, 0, 0, 0) != 0))
    return NULL;
  return &area->slice;
}

static void end_slice(void) { kernel(SLICE_YIELD, 0, 0, 0, 0, 0, 0); }

static const struct relock_os os_linux = {
    .futex_wait = futex_wait,
    .futex_wake = futex_wake,
    .futex_move = futex_move,
    .shared_futex_wait = shared_futex_wait,
    .shared_futex_wake = shared_futex_wake,
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

const struct relock_os *const relock_os = &os_linux;
