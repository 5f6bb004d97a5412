/* SPDX-License-Identifier: MIT
 *
 * Which processors there are, from /sys, and what the system lets this process do. A virtual
 * machine has the topology that its host shows it.
 */
#define _GNU_SOURCE
#include "describe.h"

#include "../../base/quota.h"
#include "../bench.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct processor processors[CPU_SETSIZE];
int processor_count, node_count, core_count;
const struct processor *cores[CPU_SETSIZE];

static int package_count;

/* The first line of a file, without its end; false: there is none. */
static bool read_text(const char *path, char *text, size_t size) {
  FILE *stream = fopen(path, "re");
  const bool has = stream && fgets(text, (int)size, stream);
  if (stream)
    fclose(stream);
  if (has)
    text[strcspn(text, "\n")] = '\0';
  return has;
}

/* The first number of a file; where there is none, the other one. */
static int number_in(const char *path, int otherwise) {
  char text[200], *end;
  if (!read_text(path, text, sizeof text))
    return otherwise;
  const long value = strtol(text, &end, 10);
  return end == text ? otherwise : (int)value;
}

static int topology(int cpu, const char *file, int otherwise) {
  char path[200];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
  return number_in(path, otherwise);
}

/* The first processor that has the same last cache, whose index is the highest that there is. */
static int last_cache(int cpu, int otherwise) {
  enum { LEVELS = 8 };
  for (int i = LEVELS - 1; i >= 0; i--) {
    char file[60];
    snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", i);
    const int first = topology(cpu, file, -1);
    if (first >= 0)
      return first;
  }
  return otherwise;
}

static int number_caches(struct processor *of) {
  for (int i = 0; &processors[i] < of; i++)
    if (processors[i].cache == of->cache)
      return processors[i].node;
  return node_count++;
}

static bool has_new_core(const struct processor *of) {
  for (int i = 0; i < core_count; i++)
    if (cores[i]->core == of->core)
      return false;
  return true;
}

static bool has_new_package(const struct processor *of) {
  for (const struct processor *at = processors; at < of; at++)
    if (at->package == of->package)
      return false;
  return true;
}

void find_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    fail(2, "cannot tell which processors there are: %s", strerror(errno));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &set))
      continue;
    struct processor *next = &processors[processor_count++];
    next->number = cpu;
    next->package = topology(cpu, "topology/physical_package_id", 0);
    next->core = topology(cpu, "topology/thread_siblings_list", cpu);
    next->cache = last_cache(cpu, -1 - next->package);
    next->node = number_caches(next);
    package_count += has_new_package(next);
    if (has_new_core(next))
      cores[core_count++] = next;
  }
}

int hops_by_packages(const struct processor *one, const struct processor *other) {
  const bool packages_are_split = package_count > 1 && node_count > package_count;
  if (one->node == other->node)
    return 0;
  return one->package == other->package || !packages_are_split ? 1 : 2;
}

const struct processor *sibling(void) {
  for (int i = 1; i < processor_count; i++)
    if (processors[i].core == processors[0].core)
      return &processors[i];
  return NULL;
}

/* The text behind the first "name : " of /proc/cpuinfo; false: it has none. */
static bool in_cpuinfo(const char *name, char *text, size_t size) {
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  FILE *stream = fopen("/proc/cpuinfo", "re");
  while (stream && !found && getline(&line, &room, stream) > 0) {
    const char *value = strchr(line, ':');
    found = value && strncmp(line, name, strlen(name)) == 0;
    if (found)
      snprintf(text, size, "%s", value + 1 + strspn(value + 1, " "));
  }
  free(line);
  if (stream)
    fclose(stream);
  text[found ? strcspn(text, "\n") : 0] = '\0';
  return found;
}

bool is_amd(void) {
  char vendor[60];
  return in_cpuinfo("vendor_id", vendor, sizeof vendor) && strcmp(vendor, "AuthenticAMD") == 0;
}

/* Of x86-64 the processor says it, elsewhere the device tree or the firmware. */
static bool is_virtual(void) {
  char text[8192];
  if (in_cpuinfo("flags", text, sizeof text) && strstr(text, " hypervisor"))
    return true;
  return access("/proc/device-tree/hypervisor", F_OK) == 0 ||
         (read_text("/sys/class/dmi/id/product_name", text, sizeof text) &&
          strstr(text, "Virtual"));
}

static int least_of(int one, int other) { return one < other ? one : other; }

void print_topology(const char *name) {
  char model[60], title[128];
  const bool has_model = in_cpuinfo("model name", model, sizeof model);
  snprintf(title, sizeof title, "%d processor%s%s%s%s", processor_count,
           processor_count == 1 ? "" : "s", has_model ? " of " : "", model,
           is_virtual() ? ", a virtual machine" : "");
  printf("name = %s\ntitle = %s\n\n", name, title);
  print_line("nodes", node_count, "", "/sys: caches of the last level");
  print_line("cores per node", (core_count + node_count - 1) / node_count, "", "/sys: topology");
  print_line("threads per core", least_of(8, (processor_count + core_count - 1) / core_count), "",
             "/sys: topology");
}

/* --- what the system lets this process do ---------------------------------------------------- */

static void print_fifo(void) {
  struct sched_param before, fifo = {.sched_priority = 2};
  const int policy = sched_getscheduler(0);
  const bool has = policy >= 0 && sched_getparam(0, &before) == 0 &&
                   sched_setscheduler(0, SCHED_FIFO, &fifo) == 0;
  print_yes_no("SCHED_FIFO", has, has ? "permitted" : strerror(errno));
  if (has)
    sched_setscheduler(0, policy, &before);
}

static void print_counters(void) {
  struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                       .size = sizeof attributes,
                                       .config = PERF_COUNT_HW_CACHE_MISSES,
                                       .exclude_kernel = 1};
  const int counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  print_yes_no("counters", counter >= 0, counter >= 0 ? "cache misses" : strerror(errno));
  if (counter >= 0)
    close(counter);
}

void print_environment(void) {
  char governor[60];
  const bool has_governor =
      read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
  const struct figure *clock = &figures[CLOCK];
  double ordered[MOST_ROUNDS];
  memcpy(ordered, clock->values, sizeof ordered);
  qsort(ordered, (size_t)clock->count, sizeof *ordered, ascending);
  const char *of = has_governor ? governor : "not shown";
  print_line("clock least", ordered[0], "MHz", "measured: of all rounds; governor: %s", of);
  print_line("clock most", ordered[clock->count - 1], "MHz", "measured: of all rounds");
  const int line = topology(processors[0].number, "cache/index0/coherency_line_size", 0);
  if (line)
    print_line("cache line", line, "bytes", "/sys");
  print_yes_no("virtual machine", is_virtual(), "the processor, /proc, /sys");
  const unsigned quota = relock_quota("");
  print_line("usable processors", quota ? least_of((int)quota, processor_count) : processor_count,
             "", quota ? "control groups: cpu.max" : "affinity; there is no quota");
  print_counters();
  print_fifo();
}
