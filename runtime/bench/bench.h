/* SPDX-License-Identifier: MIT
 *
 * What the parts of the benchmark share: a row is a lock and a way to use it, a point says how,
 * a result is what one repetition of a row at a point gave.
 */
#ifndef RELOCK_BENCH_BENCH_H
#define RELOCK_BENCH_BENCH_H

#include "../base/arch.h"
#include "other.h"

#include <relock/relock.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum way { WAY_HOLD, WAY_EXECUTE, WAY_ANY_THREAD, WAY_PTHREAD, WAY_FETCH_AND_ADD, WAY_OTHER };

struct row {
  const char *lock; /* the algorithm, or the name of what it is compared with */
  const char *mode; /* hold, execute, any-thread; limit */
  enum way way;
  int pthread_type;
  char class_name[100];
  relock_class_t lock_class;
  const struct relock_bench_lock *other;
};

struct point {
  int threads;
  int lines;
  long delay; /* cycles */
};

struct result {
  uint64_t operations;
  double seconds; /* from the first thread's start to the last one's end */
  double mean_ns, p99_ns, worst_ns;
  double jain;
  double switches; /* context switches per second */
  /* With --lengths: of the time that sections took, and their cycles in all. */
  double service_jain, work;
  /* The host before and after it, see struct host. */
  double transfer_ns[2], cycles_per_ns[2], ticks_per_ns;
};

struct uncontended {
  double ns;        /* in a process that has threads */
  double single_ns; /* in one that never had any */
  double cycles_per_ns;
};

/* What the machine gives at the moment. */
struct host {
  double transfer_ns;   /* of a cache line between two processors; 0: there is but one */
  double cycles_per_ns; /* that the processor really runs at */
  double ticks_per_ns;  /* of its counter */
};

enum { MAX_VALUES = 16, MAX_THREADS = 4096, MAX_LINES = 64 };

struct options {
  const char *locks, *modes; /* lists; null: all */
  const char *other;
  const char *baseline; /* null: none. LOCK or LOCK:MODE */
  /* What the user has not given is 0 until complete(), main.c. */
  int threads[MAX_VALUES], thread_values;
  int lines[MAX_VALUES], line_values;
  int delays[MAX_VALUES], delay_values;
  int lengths[MAX_VALUES], length_values; /* of the threads' sections, in turn; none: empty */
  int repetitions, milliseconds;
  bool pin, uncontended, table, calibrate;
};

/* What --describe is asked. */
struct description {
  const char *name; /* of the machine */
  int seconds;
  bool progress; /* lines that begin with "#: " meanwhile */
};

/* Ends the benchmark with a message. 2: what the user or the machine caused, 3: a wrong result. */
__attribute__((noreturn, format(printf, 2, 3))) void fail(int status, const char *format, ...);

/* Makes the rows that the options ask for; their number goes to *count. */
struct row *make_rows(const struct options *options, size_t *count);
/* The one among them that the options name; null: none is named. */
const struct row *baseline_of(const struct options *options, const struct row *rows,
                              size_t row_count);
/* The names that --algorithm accepts, separated by blanks. */
const char *lock_names(const struct options *options);

void measure_start(const struct options *options);
void measure(struct row *row, const struct point *point, struct result *result);
/* To be called for all rows before any thread was started: the part without threads. */
double measure_single(struct row *row);
double measure_uncontended(struct row *row, double *cycles_per_ns);

/* pin: else the kernel chooses where the two processors are. */
void measure_host(int first_cpu, int second_cpu, bool pin, struct host *host);
/* Of where the caller runs: what struct host has but for the transfer. */
void measure_clock(struct host *host);

/* Takes so many cycles, rounded up to a few. */
void spend_cycles(int cycles);

/* Of two doubles, for qsort(). */
static inline int ascending(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

uint64_t now_ns(void);
void sleep_ms(int duration);
/* Ticks of the processor's counter per second, and per cycle (1 on x86-64). */
double ticks_per_second(void);
double ticks_per_cycle(void);

void print_machine(const struct options *options, const struct row *rows, size_t row_count,
                   size_t cells);
void print_result(const struct row *row, const struct point *point, int repetition,
                  const struct result *result);
void print_uncontended(const struct row *row, int repetition, const struct uncontended *result);
void print_end(void);
/* A line of text: the processor, how many there are, and how much others do there now. */
void print_where(void);
void print_flush(void);
/* results: per thread count, per row, the repetitions. */
void print_table(const struct options *options, const struct row *rows, size_t row_count, int lines,
                 int delay, struct result *results);
void print_uncontended_table(const struct options *options, const struct row *rows,
                             size_t row_count, const struct uncontended *results);
/* "mcs hold", in a buffer of that size, which is returned. */
enum { LABEL = 120 };
const char *row_label(const struct row *row, char *label);

/* Tries other thresholds than the defaults, and prints what it found. */
void calibrate(const struct options *options, const struct row *rows, size_t row_count);

/* --barriers: prints what a round of each barrier takes. */
void compare_barriers(const struct options *options);

/* --teams: prints what operations of a team take; `lines` are the bytes of messages. */
void compare_teams(const struct options *options);

/* What the shared object of --other has by that name. */
const void *defined_by_other(const struct options *options, const char *name);

/* --containers: prints what threads get done that share a container. */
void compare_containers(const struct options *options);

/* Prints this machine as a file for `relock simulate`. */
void describe_machine(const struct description *wanted);

#endif
