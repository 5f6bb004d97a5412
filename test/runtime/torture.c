/* SPDX-License-Identifier: MIT
 *
 * Torture: many threads do random operations on a few mutexes, and every counter must be exact.
 *
 *   torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED]
 *
 * ALGORITHM "all" gives each mutex another one. The seed is printed; with it, each thread does
 * the same operations again (their interleaving is the machine's). A watchdog ends a run that
 * makes no progress for a while after its time, and prints the seed.
 */
#define _GNU_SOURCE
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A lock class for each algorithm that the library knows. */
enum { MAX_ALGORITHMS = 64 };
static relock_class_t classes[MAX_ALGORITHMS];
static int algorithms;

static void find_algorithms(void) {
  static char names[1024];
  CHECK(strlen(relock_algorithms()) < sizeof names);
  strcpy(names, relock_algorithms());
  for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
    CHECK(algorithms < MAX_ALGORITHMS);
    classes[algorithms].name = name;
    classes[algorithms++].algorithm = name;
  }
}

enum { CELLS = 4, MAX_THREADS = 256, PATIENCE_SECONDS = 60 };

struct cell {
  relock_mutex_t mutex;
  relock_cond_t changed;
  long value;
  long tokens;
  int inside;
  char padding[64];
};

const char *check_case = "torture";
static struct cell cells[CELLS];
static relock_mutex_t recursive;
static long recursive_value;
static double stop_at;
static uint64_t seed;

struct worker {
  int number;
  uint64_t random;
  long added[CELLS];
  long added_recursive;
  long operations;
  long delegated;
  pid_t kernel_thread;
};

static uint64_t next_random(struct worker *worker) { /* xorshift64* */
  uint64_t x = worker->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  worker->random = x;
  return x * 0x2545f4914f6cdd1dull >> 16;
}

static __thread long mine; /* follows the client */

struct section {
  struct cell *cell;
  struct worker *worker;
  long amount;
  long thread_value;
  struct cell *inner;
};

static void enter(struct cell *cell, long amount) {
  CHECK_EQUAL(cell->inside, 0);
  cell->inside = 1;
  cell->value += amount;
  cell->inside = 0;
}

static int add(void *context) {
  struct section *section = context;
  enter(section->cell, section->amount);
  section->worker->delegated += section->worker->kernel_thread != (pid_t)syscall(SYS_gettid);
  return (int)section->amount + 1;
}

static int add_as_client(void *context) {
  struct section *section = context;
  CHECK_EQUAL(mine, section->thread_value);
  mine++;
  return add(context);
}

static int add_to_two(void *context) {
  struct section *section = context;
  struct section inner = *section;
  inner.cell = section->inner;
  enter(section->cell, section->amount);
  if (section->amount % 2)
    return relock_execute_any_thread(&inner.cell->mutex, add, &inner);
  CHECK_EQUAL(relock_mutex_lock(&inner.cell->mutex), 0);
  int result = add(&inner);
  CHECK_EQUAL(relock_mutex_unlock(&inner.cell->mutex), 0);
  return result;
}

static int give_token(void *context) {
  struct cell *cell = context;
  cell->tokens++;
  CHECK_EQUAL(relock_cond_signal(&cell->changed), 0);
  return 0;
}

/* Waits for a token, but not for ever: there may be nobody left to give one. */
static void take_token(struct cell *cell) {
  CHECK_EQUAL(relock_mutex_lock(&cell->mutex), 0);
  struct timespec deadline = check_deadline(CLOCK_MONOTONIC, 2);
  while (cell->tokens == 0)
    if (relock_cond_clockwait(&cell->changed, &cell->mutex, CLOCK_MONOTONIC, &deadline) ==
        ETIMEDOUT)
      break;
  if (cell->tokens > 0)
    cell->tokens--;
  CHECK_EQUAL(relock_mutex_unlock(&cell->mutex), 0);
}

static int add_recursive(void *context) {
  CHECK_EQUAL(relock_mutex_lock(&recursive), 0);
  recursive_value += *(long *)context;
  CHECK_EQUAL(relock_mutex_unlock(&recursive), 0);
  return 0;
}

static void hold_and_add(struct section *section) {
  enter(section->cell, section->amount);
  CHECK_EQUAL(relock_mutex_unlock(&section->cell->mutex), 0);
}

static void operate(struct worker *worker) {
  uint64_t random = next_random(worker);
  int index = (int)(random % CELLS), other = index + 1;
  long amount = (long)(random >> 8 & 7);
  struct cell *cell = &cells[index];
  struct section section = {cell, worker, amount, mine, NULL};
  unsigned choice = random >> 16 & 63;
  worker->operations++;
  if (choice < 20) {
    CHECK_EQUAL(relock_execute(&cell->mutex, add_as_client, &section), amount + 1);
    CHECK_EQUAL(mine, section.thread_value + 1);
  } else if (choice < 32) {
    CHECK_EQUAL(relock_execute_any_thread(&cell->mutex, add, &section), amount + 1);
  } else if (choice < 44) {
    CHECK_EQUAL(relock_mutex_lock(&cell->mutex), 0);
    hold_and_add(&section);
  } else if (choice < 48) {
    if (relock_mutex_trylock(&cell->mutex) != 0)
      return;
    hold_and_add(&section);
  } else if (choice < 51) {
    struct timespec deadline = check_deadline(CLOCK_REALTIME, (long)(random >> 32 & 1));
    if (relock_mutex_timedlock(&cell->mutex, &deadline) != 0)
      return;
    hold_and_add(&section);
  } else if (choice < 57 && other < CELLS) { /* locks in ascending order only */
    section.inner = &cells[other];
    CHECK_EQUAL(relock_execute(&cell->mutex, add_to_two, &section), amount + 1);
    worker->added[other] += amount;
  } else if (choice < 60) {
    CHECK_EQUAL(relock_execute(&recursive, add_recursive, &amount), 0);
    worker->added_recursive += amount;
    return;
  } else if (choice < 62) {
    relock_execute_any_thread(&cell->mutex, give_token, cell);
    return;
  } else if (choice < 63) {
    take_token(cell);
    return;
  } else {
    usleep(random >> 32 & 127); /* lets threads run out of step */
    return;
  }
  worker->added[index] += amount;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  worker->random = seed + (uint64_t)worker->number * 0x9e3779b97f4a7c15ull + 1;
  worker->kernel_thread = (pid_t)syscall(SYS_gettid);
  while (check_seconds() < stop_at)
    for (int i = 0; i < 16; i++)
      operate(worker);
  return NULL;
}

static void watchdog(int unused) {
  (void)unused;
  char text[100];
  int length =
      snprintf(text, sizeof text, "torture: no end in time; seed %llu\n", (unsigned long long)seed);
  if (write(2, text, (size_t)length) < 0)
    _exit(4);
  _exit(3);
}

static relock_class_t *class_for(const char *name, int cell) {
  for (int i = 0; i < algorithms; i++)
    if (strcmp(name, "all") == 0 ? i == cell % algorithms : strcmp(name, classes[i].name) == 0)
      return &classes[i];
  fprintf(stderr, "torture: unknown algorithm '%s'\n", name);
  exit(2);
}

static int usage(void) {
  fprintf(stderr, "usage: torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED]\n");
  return 2;
}

int main(int argc, char **argv) {
  int seconds = 10, threads = 32, option;
  seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
  while ((option = getopt(argc, argv, "s:t:S:")) != -1) {
    if (option == 's')
      seconds = atoi(optarg);
    else if (option == 't')
      threads = atoi(optarg);
    else if (option == 'S')
      seed = strtoull(optarg, NULL, 10);
    else
      return usage();
  }
  if (optind + 1 != argc || seconds < 1 || threads < 1 || threads > MAX_THREADS)
    return usage();

  find_algorithms();
  printf("torture %s: seed %llu, %d threads, %d s\n", argv[optind], (unsigned long long)seed,
         threads, seconds);
  fflush(stdout);
  for (int i = 0; i < CELLS; i++)
    CHECK_EQUAL(relock_mutex_init(&cells[i].mutex, NULL, class_for(argv[optind], i)), 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  CHECK_EQUAL(relock_mutex_init(&recursive, &attributes, class_for(argv[optind], 2)), 0);
  signal(SIGALRM, watchdog);
  alarm((unsigned)(seconds + PATIENCE_SECONDS));

  static struct worker workers[MAX_THREADS];
  pthread_t thread[MAX_THREADS];
  stop_at = check_seconds() + seconds;
  for (int i = 0; i < threads; i++) {
    workers[i].number = i;
    thread[i] = check_start(work, &workers[i]);
  }
  long sum[CELLS] = {0}, sum_recursive = 0, operations = 0, delegated = 0, fewest = 0;
  for (int i = 0; i < threads; i++) {
    check_join(thread[i]);
    for (int k = 0; k < CELLS; k++)
      sum[k] += workers[i].added[k];
    sum_recursive += workers[i].added_recursive;
    operations += workers[i].operations;
    delegated += workers[i].delegated;
    if (i == 0 || workers[i].operations < fewest)
      fewest = workers[i].operations;
  }
  for (int k = 0; k < CELLS; k++)
    CHECK_EQUAL(cells[k].value, sum[k]);
  CHECK_EQUAL(recursive_value, sum_recursive);
  CHECK(fewest > 0);
  printf("exact: %ld operations, %ld delegated, the slowest thread did %ld\n", operations,
         delegated, fewest);
  return 0;
}
