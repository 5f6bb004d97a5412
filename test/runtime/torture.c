/* SPDX-License-Identifier: MIT
 *
 * Torture: many threads do random operations on a few mutexes, and every counter must be exact.
 *
 *   torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED] [-k]
 *
 * ALGORITHM "all" gives each mutex another one. The seed is printed; with it, each thread does
 * the same operations again (their interleaving is the machine's). Among them are signals to other
 * threads, and forks of children that go on using the mutexes. A watchdog ends a run that makes no
 * progress for a while after its time, and prints the seed.
 *
 * With -k the program runs itself again and again, with 2 to 256 threads, kills most of these runs
 * at a random moment, and lets the others come to their end. The arguments of each are a function
 * of the seed.
 */
#define _GNU_SOURCE
#include "check.h"

#include <relock/relock.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

enum { CELLS = 4, MAX_THREADS = 256, PATIENCE_SECONDS = 60, CHILD_SECONDS = 60 };

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
static double stop_at; /* set by main between the first two waits of line_up */
static pthread_barrier_t line_up;
static uint64_t seed;

static pthread_t threads[MAX_THREADS];
static int started; /* of threads[] */
static long signals;

struct worker {
  int number;
  uint64_t random;
  long added[CELLS];
  long added_recursive;
  long operations;
  long delegated;
  long forks;
  pid_t kernel_thread;
};

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

static void handle(int unused) {
  (void)unused;
  int saved = errno;
  errno = EDOM;
  __atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
  errno = saved;
}

static void signal_somebody(uint64_t random) {
  int count = __atomic_load_n(&started, __ATOMIC_ACQUIRE);
  if (count > 0)
    CHECK_EQUAL(pthread_kill(threads[random % (unsigned)count], SIGUSR1), 0);
}

static int count_up(void *context) { return (int)++*(long *)context; }

static void *use_in_child(void *context) {
  struct cell *cell = context;
  for (int i = 0; i < 50; i++) {
    relock_execute_any_thread(&cell->mutex, count_up, &cell->value);
    relock_execute(&cell->mutex, count_up, &cell->value);
    CHECK_EQUAL(relock_mutex_lock(&cell->mutex), 0);
    cell->value++;
    CHECK_EQUAL(relock_mutex_unlock(&cell->mutex), 0);
  }
  return NULL;
}

/* Of the parent's mutexes, those that nobody held go on; of a thread that held one, there is no
 * trace. */
static void be_child(void) {
  check_case = "torture, in a child";
  alarm(CHILD_SECONDS);
  for (int i = 0; i < CELLS; i++) {
    if (relock_mutex_trylock(&cells[i].mutex) != 0)
      continue;
    CHECK_EQUAL(cells[i].inside, 0);
    cells[i].value = 0;
    CHECK_EQUAL(relock_mutex_unlock(&cells[i].mutex), 0);
    if (!check_child_starts_threads())
      continue;
    check_run_threads(3, use_in_child, &cells[i]);
    CHECK_EQUAL(cells[i].value, 3 * 150);
  }
  struct cell fresh = {.value = 0};
  relock_execute(&fresh.mutex, count_up, &fresh.value);
  CHECK_EQUAL(fresh.value, 1);
  _exit(0);
}

static void fork_child(struct worker *worker) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0)
    be_child();
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  worker->forks++;
}

static void operate(struct worker *worker) {
  uint64_t random = next_random(&worker->random);
  if ((random >> 24 & 0x3ff) == 0)
    signal_somebody(random >> 34);
  if ((random >> 24 & 0x3ffff) == 1)
    fork_child(worker);
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
  pthread_barrier_wait(&line_up);
  pthread_barrier_wait(&line_up);
  while (check_seconds() < stop_at)
    for (int i = 0; i < 16; i++)
      operate(worker);
  pthread_barrier_wait(&line_up); /* a thread that has been joined can be sent no signal */
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

/* "all": another algorithm for each cell, beginning with one that the seed chooses. */
static relock_class_t *class_for(const char *name, int cell) {
  int turn = (int)((seed + (uint64_t)cell) % (uint64_t)algorithms);
  for (int i = 0; i < algorithms; i++)
    if (strcmp(name, "all") == 0 ? i == turn : strcmp(name, classes[i].name) == 0)
      return &classes[i];
  fprintf(stderr, "torture: unknown algorithm '%s'\n", name);
  exit(2);
}

static int usage(void) {
  fprintf(stderr, "usage: torture ALGORITHM [-s SECONDS] [-t THREADS] [-S SEED] [-k]\n");
  return 2;
}

/* Gives each mutex its algorithm. */
static void init_mutexes(const char *name) {
  find_algorithms();
  for (int i = 0; i < CELLS; i++)
    CHECK_EQUAL(relock_mutex_init(&cells[i].mutex, NULL, class_for(name, i)), 0);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  CHECK_EQUAL(relock_mutex_init(&recursive, &attributes, class_for(name, 2)), 0);
}

/* One run of all threads. */
static void torture(int count, int seconds) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  signal(SIGALRM, watchdog);
  alarm((unsigned)(seconds + PATIENCE_SECONDS));

  static struct worker workers[MAX_THREADS];
  CHECK_EQUAL(pthread_barrier_init(&line_up, NULL, (unsigned)count + 1), 0);
  for (int i = 0; i < count; i++) {
    workers[i].number = i;
    threads[i] = check_start(work, &workers[i]);
    __atomic_store_n(&started, i + 1, __ATOMIC_RELEASE);
  }
  pthread_barrier_wait(&line_up); /* however long it took to start them */
  stop_at = check_seconds() + seconds;
  pthread_barrier_wait(&line_up);
  pthread_barrier_wait(&line_up); /* all are done */
  long sum[CELLS] = {0}, sum_recursive = 0, operations = 0, delegated = 0, forks = 0, fewest = 0;
  for (int i = 0; i < count; i++) {
    check_join(threads[i]);
    for (int k = 0; k < CELLS; k++)
      sum[k] += workers[i].added[k];
    sum_recursive += workers[i].added_recursive;
    operations += workers[i].operations;
    delegated += workers[i].delegated;
    forks += workers[i].forks;
    if (i == 0 || workers[i].operations < fewest)
      fewest = workers[i].operations;
  }
  for (int k = 0; k < CELLS; k++)
    CHECK_EQUAL(cells[k].value, sum[k]);
  CHECK_EQUAL(recursive_value, sum_recursive);
  CHECK(fewest > 0);
  printf(
      "exact: %ld operations, %ld delegated, the slowest thread did %ld; %ld signals, %ld forks\n",
      operations, delegated, fewest, __atomic_load_n(&signals, __ATOMIC_RELAXED), forks);
}

/* Starts one run as a process of its own, and a group for its children. */
static pid_t start_run(char *name, uint64_t run_seed, unsigned count) {
  char seed_text[24], threads_text[12];
  snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)run_seed);
  snprintf(threads_text, sizeof threads_text, "%u", count);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setpgid(0, 0);
    execl("/proc/self/exe", "torture", name, "-s", "1", "-S", seed_text, "-t", threads_text, NULL);
    _exit(127);
  }
  return child;
}

/* Waits for the children that a killed run has left to us. */
static void reap_orphans(pid_t group) {
  kill(-group, SIGKILL);
  while (waitpid(-group, NULL, 0) > 0)
    continue;
}

static void kill_runs(char *name, int seconds) {
  struct worker chance = {.random = seed + 1};
  long killed = 0, ended = 0;
  CHECK_EQUAL(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  double end = check_seconds() + seconds;
  while (check_seconds() < end || ended == 0) {
    unsigned count = 2 + (unsigned)(next_random(&chance.random) % (MAX_THREADS - 1));
    uint64_t run_seed = next_random(&chance.random);
    bool to_kill = (killed + ended) % 4 != 3;
    pid_t child = start_run(name, run_seed, count);
    if (to_kill) {
      usleep((unsigned)(next_random(&chance.random) % 400000));
      CHECK_EQUAL(kill(child, SIGKILL), 0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    reap_orphans(child);
    CHECK_EQUAL(status, to_kill ? SIGKILL : 0);
    if (to_kill)
      killed++;
    else
      ended++;
  }
  printf("killed %ld runs, %ld came to their end\n", killed, ended);
}

int main(int argc, char **argv) {
  int seconds = 10, count = 32, option;
  bool kills = false;
  seed = (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
  while ((option = getopt(argc, argv, "s:t:S:k")) != -1) {
    if (option == 's')
      seconds = atoi(optarg);
    else if (option == 't')
      count = atoi(optarg);
    else if (option == 'S')
      seed = strtoull(optarg, NULL, 10);
    else if (option == 'k')
      kills = true;
    else
      return usage();
  }
  if (optind + 1 != argc || seconds < 1 || count < 1 || count > MAX_THREADS)
    return usage();
  printf("torture %s: seed %llu, %d threads, %d s\n", argv[optind], (unsigned long long)seed, count,
         seconds);
  fflush(stdout);
  if (kills) {
    kill_runs(argv[optind], seconds);
    return 0;
  }
  init_mutexes(argv[optind]);
  torture(count, seconds);
  return 0;
}
