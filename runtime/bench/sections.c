/* SPDX-License-Identifier: MIT
 *
 * Microbenchmark: every algorithm and the C library's mutex, side by side in one run.
 *
 *   relock-sections [-r REPETITIONS] [-m MILLISECONDS] [-t THREADS]... [-d CYCLES]...
 *
 * A section increments one word in one cache line; between sections a thread spins for a number
 * of cycles. "hold" brackets the section with lock and unlock, "execute" passes it to
 * relock_execute. Repetitions of all rows are interleaved, so that a disturbance hits all of
 * them; cells are the median [least-most].
 */
#define _GNU_SOURCE
#include <relock/relock.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(bench_posix, "bench_posix", "posix");
RELOCK_LOCK_CLASS(bench_mcs, "bench_mcs", "mcs");
RELOCK_LOCK_CLASS(bench_ccsynch, "bench_ccsynch", "ccsynch");
RELOCK_LOCK_CLASS(bench_rcl, "bench_rcl", "rcl");

enum { MAX_THREADS = 128, MAX_REPETITIONS = 51, MAX_POINTS = 8 };
enum way { PTHREAD, HOLD, EXECUTE, EXECUTE_ANY };

struct row {
  const char *name;
  enum way way;
  relock_class_t *lock_class;
  double sample[MAX_REPETITIONS];
};

static struct row rows[] = {
    {"pthread_mutex", PTHREAD, NULL, {0}},
    {"posix hold", HOLD, RELOCK_CLASS(bench_posix), {0}},
    {"posix execute", EXECUTE, RELOCK_CLASS(bench_posix), {0}},
    {"mcs hold", HOLD, RELOCK_CLASS(bench_mcs), {0}},
    {"mcs execute", EXECUTE, RELOCK_CLASS(bench_mcs), {0}},
    {"ccsynch hold", HOLD, RELOCK_CLASS(bench_ccsynch), {0}},
    {"ccsynch execute", EXECUTE, RELOCK_CLASS(bench_ccsynch), {0}},
    {"ccsynch any thread", EXECUTE_ANY, RELOCK_CLASS(bench_ccsynch), {0}},
    {"rcl hold", HOLD, RELOCK_CLASS(bench_rcl), {0}},
    {"rcl execute", EXECUTE, RELOCK_CLASS(bench_rcl), {0}},
    {"rcl any thread", EXECUTE_ANY, RELOCK_CLASS(bench_rcl), {0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct {
  _Alignas(64) relock_mutex_t mutex;
  _Alignas(64) pthread_mutex_t pthread;
  _Alignas(64) long counter;
  _Alignas(64) int stop;
  pthread_barrier_t start;
} shared;

struct worker {
  _Alignas(64) long operations;
  const struct row *row;
  long delay;
};

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t cycles(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

static void spin(long delay) {
  if (delay == 0)
    return;
  uint64_t end = cycles() + (uint64_t)delay;
  while (cycles() < end)
    __asm__ __volatile__("");
}

static int increment(void *context) {
  ++*(long *)context;
  return 0;
}

static void operate(const struct row *row) {
  switch (row->way) {
  case PTHREAD:
    pthread_mutex_lock(&shared.pthread);
    increment(&shared.counter);
    pthread_mutex_unlock(&shared.pthread);
    break;
  case HOLD:
    relock_mutex_lock(&shared.mutex);
    increment(&shared.counter);
    relock_mutex_unlock(&shared.mutex);
    break;
  case EXECUTE:
    relock_execute(&shared.mutex, increment, &shared.counter);
    break;
  case EXECUTE_ANY:
    relock_execute_any_thread(&shared.mutex, increment, &shared.counter);
    break;
  }
}

static void reset(const struct row *row) {
  pthread_mutex_init(&shared.pthread, NULL);
  relock_mutex_init(&shared.mutex, NULL, row->lock_class);
  shared.counter = 0;
  __atomic_store_n(&shared.stop, 0, __ATOMIC_RELAXED);
}

static void check(long expected) {
  if (shared.counter != expected) {
    fprintf(stderr, "relock-sections: counter is %ld, not %ld\n", shared.counter, expected);
    exit(3);
  }
}

static double uncontended_ns(const struct row *row) {
  enum { OPERATIONS = 400000 };
  reset(row);
  for (int i = 0; i < 1000; i++)
    operate(row);
  uint64_t start = now_ns();
  for (int i = 0; i < OPERATIONS; i++)
    operate(row);
  double elapsed = (double)(now_ns() - start);
  check(OPERATIONS + 1000);
  return elapsed / OPERATIONS;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  pthread_barrier_wait(&shared.start);
  long operations = 0;
  while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
    operate(worker->row);
    operations++;
    spin(worker->delay);
  }
  worker->operations = operations;
  return NULL;
}

static double millions_per_second(const struct row *row, int threads, long delay,
                                  int milliseconds) {
  static struct worker workers[MAX_THREADS];
  pthread_t thread[MAX_THREADS];
  reset(row);
  pthread_barrier_init(&shared.start, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) {
    workers[i].row = row;
    workers[i].delay = delay;
    if (pthread_create(&thread[i], NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "relock-sections: cannot start %d threads\n", threads);
      exit(2);
    }
  }
  pthread_barrier_wait(&shared.start);
  uint64_t start = now_ns();
  usleep((useconds_t)milliseconds * 1000);
  __atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
  long total = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    total += workers[i].operations;
  }
  double elapsed = (double)(now_ns() - start);
  check(total);
  return (double)total * 1000 / elapsed;
}

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void print_rows(int repetitions, const char *unit) {
  for (int r = 0; r < ROWS; r++) {
    double *sample = rows[r].sample;
    qsort(sample, (size_t)repetitions, sizeof *sample, ascending);
    printf("  %-20s %8.2f [%.2f-%.2f] %s\n", rows[r].name, sample[repetitions / 2], sample[0],
           sample[repetitions - 1], unit);
  }
  fflush(stdout);
}

static void print_machine(void) {
  char model[256] = "unknown processor", line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
      snprintf(model, sizeof model, "%s", strchr(line, ':') + 2);
      model[strcspn(model, "\n")] = '\0';
      break;
    }
  }
  if (file)
    fclose(file);
  struct utsname name;
  uname(&name);
  printf("machine: %s, %ld processors, %s %s\n", model, sysconf(_SC_NPROCESSORS_ONLN), name.sysname,
         name.release);
}

static void *idle(void *barrier) {
  pthread_barrier_wait(barrier);
  return NULL;
}

static int usage(void) {
  fprintf(stderr, "usage: relock-sections [-r REPETITIONS] [-m MILLISECONDS] [-t THREADS]... "
                  "[-d CYCLES]...\n");
  return 2;
}

int main(int argc, char **argv) {
  int repetitions = 7, milliseconds = 100, option;
  int threads[MAX_POINTS], thread_points = 0;
  long delays[MAX_POINTS];
  int delay_points = 0;
  while ((option = getopt(argc, argv, "r:m:t:d:")) != -1) {
    int value = optarg ? atoi(optarg) : 0;
    if (option == 'r' && value > 0 && value <= MAX_REPETITIONS)
      repetitions = value;
    else if (option == 'm' && value > 0)
      milliseconds = value;
    else if (option == 't' && value > 0 && value <= MAX_THREADS && thread_points < MAX_POINTS)
      threads[thread_points++] = value;
    else if (option == 'd' && value >= 0 && delay_points < MAX_POINTS)
      delays[delay_points++] = value;
    else
      return usage();
  }
  if (optind != argc)
    return usage();
  if (thread_points == 0)
    for (int count = 2; count <= 32; count *= 4)
      threads[thread_points++] = count;
  if (delay_points == 0) {
    delays[delay_points++] = 100;
    delays[delay_points++] = 1000;
  }

  /* A second thread: the C library's mutex is cheaper in a process that has never had one. */
  static pthread_barrier_t end;
  pthread_t idler;
  pthread_barrier_init(&end, NULL, 2);
  if (pthread_create(&idler, NULL, idle, &end) != 0)
    return 2;

  print_machine();
  printf("uncontended, one thread\n");
  for (int i = 0; i < repetitions; i++)
    for (int r = 0; r < ROWS; r++)
      rows[r].sample[i] = uncontended_ns(&rows[r]);
  print_rows(repetitions, "ns per section");
  for (int d = 0; d < delay_points; d++) {
    for (int t = 0; t < thread_points; t++) {
      printf("%d threads, %ld cycles between sections\n", threads[t], delays[d]);
      for (int i = 0; i < repetitions; i++)
        for (int r = 0; r < ROWS; r++)
          rows[r].sample[i] = millions_per_second(&rows[r], threads[t], delays[d], milliseconds);
      print_rows(repetitions, "million sections/s");
    }
  }
  pthread_barrier_wait(&end);
  pthread_join(idler, NULL);
  return 0;
}
