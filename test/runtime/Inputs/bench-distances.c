// Machines that are not at hand: their distances are made up, everything else is what --describe
// does with them.
#define _GNU_SOURCE
#include "../../../runtime/bench/bench.h"
#include "../../../runtime/bench/describe/describe.h"

#include <stdlib.h>
#include <string.h>

struct processor processors[CPU_SETSIZE];
int processor_count, node_count, core_count;

static int nodes_hidden;
static double (*distance)(int, int);

uint64_t now_ns(void) { return 0; }
double ticks_per_second(void) { return 1e9; }
void measure_clock(struct host *host) { host->cycles_per_ns = 1; }
void pin(int cpu) { (void)cpu; }
void fail(int status, const char *format, ...) {
  (void)format;
  exit(status);
}
int hops_by_packages(const struct processor *one, const struct processor *other) {
  return one->node != other->node;
}

/* A few cycles more or less. */
double transfer_ns(int cpu, int other) {
  static unsigned noise;
  return distance(cpu, other) + noise++ % 8;
}

static void make(int nodes, int cores_per_node, int threads, double (*far)(int, int)) {
  node_count = nodes;
  core_count = nodes * cores_per_node;
  for (int i = 0; i < core_count * threads; i++)
    processors[processor_count++] = (struct processor){
        .number = i, .core = i / threads, .node = nodes_hidden ? 0 : i / threads / cores_per_node};
  distance = far;
}

static double sockets(int one, int other) { return one / 4 == other / 4 ? 100 : 300; }
static double ring(int one, int other) {
  static const int steps[] = {0, 1, 2, 1};
  return 100 + 120 * steps[abs(one / 2 - other / 2)];
}
static double disturb(int one, int other) {
  (void)one, (void)other;
  return one == 3 && (other == 7 || other == 9) ? 900 : 100;
}
static double single(int one, int other) {
  (void)one, (void)other;
  return 200;
}
static double threads(int one, int other) { return one / 2 == other / 2 ? 10 : 100; }

int main(int argc, char **argv) {
  const char *machine = argc > 1 ? argv[1] : "";
  nodes_hidden = strcmp(machine, "hidden") == 0;
  if (strcmp(machine, "sockets") == 0)
    make(2, 4, 1, sockets);
  else if (strcmp(machine, "ring") == 0)
    make(4, 2, 1, ring);
  else if (nodes_hidden)
    make(1, 8, 1, sockets);
  else if (strcmp(machine, "disturbed") == 0)
    make(1, 16, 1, disturb);
  else if (strcmp(machine, "single") == 0)
    make(3, 1, 1, single);
  else
    make(1, 2, 2, threads);
  start_round();
  start_pairs();
  for (int i = 0; i < LEAST_ROUNDS; i++)
    measure_pairs(UINT64_MAX);
  judge_pairs();
  print_hops();
  print_transfers();
  print_pairs();
  return 0;
}
