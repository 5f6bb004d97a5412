/* SPDX-License-Identifier: MIT
 *
 * This machine as a file for `relock simulate`, whose parameters runtime/sim/README.md explains.
 * What can be measured without privileges is measured, in a second or two; the rest is a guess, and
 * says so. A virtual machine has the topology that its host shows it.
 *
 * A time is the median of tries, some of which were preempted. Cycles are those that the processor
 * really ran at.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/arch.h"

enum { LINE = 128, LINES = 128, TRIES = 101 };

/* --- which processors there are -------------------------------------------------------------- */

struct processor {
  int number;
  int package, core, cache; /* cache: the first processor that has the same last one */
};
static struct processor processors[CPU_SETSIZE];
static int processor_count;

/* The first number of a file; where there is none, the other one. */
static int number_in(const char *path, int otherwise) {
  int value = otherwise;
  FILE *stream = fopen(path, "re");
  if (!stream)
    return otherwise;
  if (fscanf(stream, "%d", &value) != 1)
    value = otherwise;
  fclose(stream);
  return value;
}

static int topology(int cpu, const char *file, int otherwise) {
  char path[200];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
  return number_in(path, otherwise);
}

static void find_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    fail(2, "cannot tell which processors there are: %s", strerror(errno));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &set))
      continue;
    const int package = topology(cpu, "topology/physical_package_id", 0);
    processors[processor_count++] =
        (struct processor){cpu, package, topology(cpu, "topology/thread_siblings_list", cpu),
                           topology(cpu, "cache/index3/shared_cpu_list", -1 - package)};
  }
}

static int distinct(size_t member) {
  int count = 0;
  for (int i = 0; i < processor_count; i++) {
    bool known = false;
    for (int j = 0; j < i && !known; j++)
      known =
          *(int *)((char *)&processors[i] + member) == *(int *)((char *)&processors[j] + member);
    count += !known;
  }
  return count;
}

/* A node is what shares its last cache. Hops between two: none, 1 in a package that has several,
 * and one more to another package. */
static bool packages_are_split;
static int hops(const struct processor *one, const struct processor *other) {
  if (one->cache == other->cache)
    return 0;
  return one->package == other->package || !packages_are_split ? 1 : 2;
}

/* --- two threads ------------------------------------------------------------------------------ */

static struct {
  _Alignas(LINE) struct link {
    _Alignas(LINE) struct link *next;
    uint64_t value;
  } links[LINES];
  _Alignas(LINE) uint32_t turn; /* odd: the helper's */
  _Alignas(LINE) uint32_t word;
} shared;

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct helper {
  int cpu;
  void (*run)(void);
  int rounds;
};

static void *help(void *argument) {
  const struct helper *helper = argument;
  pin(helper->cpu);
  for (uint32_t i = 0; i < (uint32_t)helper->rounds; i++) {
    while (__atomic_load_n(&shared.turn, __ATOMIC_ACQUIRE) != 2 * i + 1)
      continue;
    helper->run();
    __atomic_store_n(&shared.turn, 2 * i + 2, __ATOMIC_RELEASE);
  }
  return NULL;
}

static pthread_t start_helper(void *(*run)(void *), void *argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, run, argument);
  if (error)
    fail(2, "cannot start a thread: %s", strerror(error));
  return thread;
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

static double ns_of(uint64_t ticks_taken) { return (double)ticks_taken * 1e9 / ticks_per_second(); }

/* The lines in an order that no prefetcher guesses, the same in each run. */
static void link_lines(struct link *links, size_t count) {
  size_t *order = malloc(count * sizeof *order);
  if (!order)
    fail(2, "no memory");
  uint64_t random = 1;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  for (size_t i = count - 1; i > 0; i--) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const size_t other = (random >> 33) % (i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (size_t i = 0; i < count; i++)
    links[order[i]].next = &links[order[(i + 1) % count]];
  free(order);
}

static void write_lines(void) {
  for (int i = 0; i < LINES; i++)
    shared.links[i].value++;
}

static void read_lines(void) {
  const struct link *at = shared.links;
  for (int i = 0; i < LINES; i++)
    at = at->next;
  __asm__ __volatile__("" : : "r"(at) : "memory");
}

static void change_lines(void) {
  struct link *at = shared.links;
  for (int i = 0; i < LINES; i++)
    at = (struct link *)__atomic_fetch_add((uintptr_t *)&at->next, 0, __ATOMIC_SEQ_CST);
  __asm__ __volatile__("" : : "r"(at) : "memory");
}

/* What one line takes in `timed`, after the thread on the other processor did `prepare` and this
 * one `then`, if any. */
static double per_line_ns(int cpu, int other, void (*prepare)(void), void (*then)(void),
                          void (*timed)(void)) {
  struct helper helper = {other, prepare, TRIES};
  double taken[TRIES];
  shared.turn = 0;
  pin(cpu);
  const pthread_t thread = start_helper(help, &helper);
  for (uint32_t i = 0; i < TRIES; i++) {
    __atomic_store_n(&shared.turn, 2 * i + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&shared.turn, __ATOMIC_ACQUIRE) != 2 * i + 2)
      continue;
    if (then)
      then();
    const uint64_t start = ticks();
    timed();
    taken[i] = ns_of(ticks() - start) / LINES;
  }
  pthread_join(thread, NULL);
  return median(taken, TRIES);
}

/* --- one thread ------------------------------------------------------------------------------- */

static double repeat_ns(void (*timed)(void), int times) {
  enum { SOME = 21 };
  double taken[SOME];
  for (int i = 0; i < SOME; i++) {
    const uint64_t start = ticks();
    for (int j = 0; j < times; j++)
      timed();
    taken[i] = ns_of(ticks() - start) / times;
  }
  return median(taken, SOME);
}

static void pause_once(void) { relock_pause(); }
static void read_clock(void) { now_ns(); }
static void wake_nobody(void) { syscall(SYS_futex, &shared.word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static void yield(void) { sched_yield(); }

/* Of memory that no cache holds. */
static double memory_ns(void) {
  enum { COUNT = 1 << 21, LOADS = 200000 }; /* 256 MiB */
  struct link *links = aligned_alloc(1 << 21, COUNT * sizeof *links);
  if (!links)
    fail(2, "no memory");
  madvise(links, COUNT * sizeof *links, MADV_HUGEPAGE); /* lines are looked for, not translations */
  link_lines(links, COUNT);
  const struct link *at = links;
  const uint64_t start = ticks();
  for (int i = 0; i < LOADS; i++)
    at = at->next;
  const double taken = ns_of(ticks() - start) / LOADS;
  __asm__ __volatile__("" : : "r"(at) : "memory");
  free(links);
  return taken;
}

/* --- threads that do the same --------------------------------------------------------------- */

struct crowd {
  pthread_t thread;
  int cpu;
  bool adds; /* to one word; else it spends cycles */
  uint64_t done;
};

static uint32_t crowd_runs;

static void *join_crowd(void *argument) {
  enum { CYCLES = 1000 };
  struct crowd *crowd = argument;
  pin(crowd->cpu);
  while (!__atomic_load_n(&crowd_runs, __ATOMIC_ACQUIRE))
    continue;
  for (; __atomic_load_n(&crowd_runs, __ATOMIC_RELAXED); crowd->done++)
    if (crowd->adds)
      __atomic_fetch_add(&shared.word, 1, __ATOMIC_SEQ_CST);
    else
      spend_cycles(CYCLES);
  return NULL;
}

/* What all of them do in a nanosecond. */
static double crowd_rate(const int *cpus, int count, bool adds) {
  enum { MS = 50 };
  struct crowd *crowd = calloc((size_t)count, sizeof *crowd);
  if (!crowd)
    fail(2, "no memory");
  for (int i = 0; i < count; i++) {
    crowd[i].cpu = cpus[i];
    crowd[i].adds = adds;
    crowd[i].thread = start_helper(join_crowd, &crowd[i]);
  }
  const uint64_t start = now_ns();
  __atomic_store_n(&crowd_runs, 1, __ATOMIC_RELEASE);
  sleep_ms(MS);
  __atomic_store_n(&crowd_runs, 0, __ATOMIC_RELEASE);
  const uint64_t taken = now_ns() - start;
  uint64_t done = 0;
  for (int i = 0; i < count; i++) {
    pthread_join(crowd[i].thread, NULL);
    done += crowd[i].done;
  }
  free(crowd);
  return (double)done / (double)taken;
}

/* --- sleeping ----------------------------------------------------------------------------------
 */

static uint64_t woken_at;

static void *sleep_and_wake(void *argument) {
  pin(*(int *)argument);
  for (uint32_t i = 0; i < TRIES; i++) {
    while (__atomic_load_n(&shared.word, __ATOMIC_ACQUIRE) == 2 * i)
      syscall(SYS_futex, &shared.word, FUTEX_WAIT_PRIVATE, 2 * i, 0, 0, 0);
    __atomic_store_n(&woken_at, ticks(), __ATOMIC_RELAXED);
    __atomic_store_n(&shared.word, 2 * i + 2, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void measure_waking(int cpu, int other, double *waker_ns, double *sleeper_ns) {
  double call[TRIES], until[TRIES];
  shared.word = 0;
  pin(cpu);
  const pthread_t thread = start_helper(sleep_and_wake, &other);
  for (uint32_t i = 0; i < TRIES; i++) {
    sleep_ms(1); /* it sleeps by now */
    const uint64_t start = ticks();
    __atomic_store_n(&shared.word, 2 * i + 1, __ATOMIC_RELEASE);
    wake_nobody();
    const uint64_t end = ticks();
    while (__atomic_load_n(&shared.word, __ATOMIC_ACQUIRE) != 2 * i + 2)
      continue;
    call[i] = ns_of(end - start);
    until[i] = ns_of(__atomic_load_n(&woken_at, __ATOMIC_RELAXED) - start);
  }
  pthread_join(thread, NULL);
  *waker_ns = median(call, TRIES);
  *sleeper_ns = median(until, TRIES);
}

static void *yield_for_ever(void *argument) {
  pin(*(int *)argument);
  while (__atomic_load_n(&shared.word, __ATOMIC_RELAXED) == 0)
    sched_yield();
  return NULL;
}

/* Two threads of one processor that yield to each other: a call and a switch. */
static double switch_ns(int cpu) {
  enum { YIELDS = 500 };
  shared.word = 0;
  pin(cpu);
  const pthread_t thread = start_helper(yield_for_ever, &cpu);
  const double taken = repeat_ns(yield, YIELDS);
  __atomic_store_n(&shared.word, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  return taken;
}

static void barrier(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

static void *spin_for_ever(void *argument) {
  pin(*(int *)argument);
  while (__atomic_load_n(&shared.word, __ATOMIC_RELAXED) == 0)
    continue;
  return NULL;
}

/* Of a barrier that stops one other processor. */
static double interrupt_ns(int cpu, int other) {
  enum { BARRIERS = 100 };
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
    return 0;
  shared.word = 0;
  pin(cpu);
  const pthread_t thread = start_helper(spin_for_ever, &other);
  sleep_ms(1);
  const double taken = repeat_ns(barrier, BARRIERS);
  __atomic_store_n(&shared.word, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  return taken;
}

/* --- the file -----------------------------------------------------------------------------------
 */

static void line(const char *name, double value, const char *unit, const char *source) {
  printf("%s = %.0f%s%s   # %s\n", name, value, *unit ? " " : "", unit, source);
}

/* A row for each node, in the order of their first processors. */
static void print_hops(int nodes) {
  const struct processor *first[CPU_SETSIZE];
  int found = 0;
  for (int i = 0; i < processor_count && found < nodes; i++) {
    bool known = false;
    for (int node = 0; node < found && !known; node++)
      known = first[node]->cache == processors[i].cache;
    if (!known)
      first[found++] = &processors[i];
  }
  for (int from = 0; from < nodes; from++) {
    printf("hops %d =", from);
    for (int to = 0; to < nodes; to++)
      printf(" %d", hops(first[from], first[to]));
    printf("   # /sys: caches and packages\n");
  }
}

static const struct processor *processor_at(int distance) {
  for (int i = 1; i < processor_count; i++)
    if (processors[i].core != processors[0].core &&
        hops(&processors[0], &processors[i]) == distance)
      return &processors[i];
  return NULL;
}

static bool is_amd(void) {
  char text[200];
  bool amd = false;
  FILE *stream = fopen("/proc/cpuinfo", "re");
  while (stream && fgets(text, sizeof text, stream))
    amd = amd || strstr(text, "AuthenticAMD");
  if (stream)
    fclose(stream);
  return amd;
}

static double least(double one, double other) { return one < other ? one : other; }
static double most(double one, double other) { return one > other ? one : other; }

void describe_machine(void) {
  find_processors();
  if (processor_count < 2)
    fail(2, "a machine with one processor has no lines to transfer");
  link_lines(shared.links, LINES);
  const int cpu = processors[0].number;
  pin(cpu);
  struct host host;
  measure_clock(&host);
  const double cycles = host.cycles_per_ns;
  const int nodes = distinct(offsetof(struct processor, cache));
  const int cores = distinct(offsetof(struct processor, core));

  const int packages = distinct(offsetof(struct processor, package));
  packages_are_split = packages > 1 && nodes > packages;

  printf("# This machine, as relock-bench --describe found it.\n");
  printf("name = here\ntitle = %d processors, measured\n\n", processor_count);
  line("nodes", nodes, "", "/sys: caches of the last level");
  line("cores per node", (cores + nodes - 1) / nodes, "", "/sys: topology");
  line("threads per core", (processor_count + cores - 1) / cores, "", "/sys: topology");
  if (nodes > 1)
    print_hops(nodes);
  line("clock", cycles * 1000, "MHz", "measured: a chain of additions");
  printf("\n");

  double transfer[3] = {0};
  const struct processor *nearest = NULL;
  for (int distance = 0; distance < 3; distance++) {
    const struct processor *other = processor_at(distance);
    if (!other)
      continue;
    nearest = nearest ? nearest : other;
    transfer[distance] = per_line_ns(cpu, other->number, write_lines, NULL, read_lines) * cycles;
    const double upgrade =
        per_line_ns(cpu, other->number, read_lines, read_lines, change_lines) * cycles;
    printf(
        "transfer %d = %.0f cycles   # measured: a line that processor %d has written to; to take"
        " one that it has read: %.0f\n",
        distance, transfer[distance], other->number, upgrade);
  }
  const double memory = memory_ns() * cycles;
  for (int distance = 0; distance < 3; distance++)
    if (transfer[distance] > 0)
      printf("memory %d = %.0f cycles   # %s\n", distance,
             memory + (distance ? transfer[distance] - transfer[0] : 0),
             distance ? "guess: as much more as a transfer" : "measured");
  read_lines();
  const double hit = least(repeat_ns(read_lines, 1), repeat_ns(read_lines, 10)) * cycles / LINES;
  const double atomic = repeat_ns(change_lines, 10) * cycles / LINES;
  line("hit", most(1, hit), "cycles", "measured");
  line("invalidate", 0, "cycles", "guess: all copies are told at once");
  int all[CPU_SETSIZE];
  for (int i = 0; i < processor_count; i++)
    all[i] = processors[i].number;
  const double add = cycles / crowd_rate(all, processor_count, true);
  double farthest = most(transfer[0], most(transfer[1], transfer[2]));
  printf("write occupancy = %.0f %%   # measured: %d processors add to a line, %.0f cycles each\n",
         most(1, least(100, 100 * add / farthest)), processor_count, add);
  line("read occupancy", 20, "%", "guess, as for magnycours-48");
  line("home", 9, "cycles", "guess: a directory looks up a line every 3 ns");
  printf("owner keeps = %s   # guess: %s\n", is_amd() ? "yes" : "no",
         is_amd() ? "AMD, MOESI" : "MESIF or the like");
#if defined(__x86_64__)
  printf("total store order = yes   # x86\n");
#else
  printf("total store order = no   # AArch64\n");
#endif
  line("store buffer", 64, "", "guess");
  line("atomic", most(0, atomic - hit), "cycles", "measured: in the own cache");
  line("instruction", 1, "cycles", "guess: four instructions per cycle, four per access");
  line("pause", most(1, repeat_ns(pause_once, 1000) * cycles), "cycles", "measured");
  line("turn", 1, "cycles", "one round of an empty loop per cycle");
  int siblings[2] = {cpu, -1};
  for (int i = 1; i < processor_count && siblings[1] < 0; i++)
    if (processors[i].core == processors[0].core)
      siblings[1] = processors[i].number;
  printf("throughput = %.0f %%   # %s\n",
         siblings[1] < 0
             ? 100
             : most(100, 100 * crowd_rate(siblings, 2, false) / crowd_rate(siblings, 1, false)),
         siblings[1] < 0 ? "one thread per core" : "measured: chains of additions on both threads");
  printf("\n");

  nearest = nearest ? nearest : &processors[1];
  double waker, sleeper;
  pin(cpu);
  const double call = repeat_ns(wake_nobody, 1000);
  measure_waking(cpu, nearest->number, &waker, &sleeper);
  line("system call", call, "ns", "measured: a futex that nobody waits for");
  line("waking", most(0, waker - call), "ns", "measured: what a sleeper adds to the call");
  line("wake-up", most(0, sleeper - waker), "ns", "measured: after the call, until it runs");
  line("context switch", most(0, switch_ns(cpu) - call), "ns", "measured: yields in turn");
  line("interrupt", most(0, interrupt_ns(cpu, nearest->number) - call), "ns",
       "measured: a barrier of one other processor");
  line("clock read", repeat_ns(read_clock, 1000), "ns", "measured");
  const int slice = number_in("/sys/kernel/debug/sched/base_slice_ns", 0);
  line("slice", slice ? slice : 3000000, "ns",
       slice ? "the kernel's base_slice_ns" : "guess: the kernel does not show its base_slice_ns");

  printf("\n# A line from processor %d to each other one and back, half of it, in ns:\n#", cpu);
  for (int i = 1; i < processor_count; i++) {
    measure_host(cpu, processors[i].number, true, &host);
    printf(" %d:%.0f%s", processors[i].number, host.transfer_ns, i % 12 == 0 ? "\n#" : "");
  }
  printf("\n");
}
