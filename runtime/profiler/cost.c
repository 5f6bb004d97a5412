/* SPDX-License-Identifier: MIT
 *
 * What recording costs where nobody else wants the lock: each pair of calls, once through the
 * profiler and once straight to the C library, in turns. Prints nanoseconds per pair, the smallest
 * and the median round.
 *
 *   relock profile -o /dev/null -- build/dev/bin/profiler-cost [ROUNDS]
 *
 * Without the profiler both columns are the same, which shows how far to trust them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS = 64 << 20, LINE = 64 };
enum { PAIRS = 1000, ROUNDS = 1000, ROUNDS_MAX = 10000, MANY = 4096 };

typedef int call(void *);

struct pair {
  const char *name;
  const char *enter_name, *leave_name;
  call *enter, *leave; /* through whoever stands in front of the C library */
  char *objects;
  size_t count, size; /* of the objects, a power of two */
  int lines;          /* of other data, each somewhere else, that are read before each pair */
  call *plain_enter, *plain_leave;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t many[MANY];
static char others[OTHERS];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static sem_t semaphore;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

#define PAIR(name, enter, leave, objects, count) PAIR_AFTER(0, name, enter, leave, objects, count)
#define PAIR_AFTER(lines, name, enter, leave, objects, count)                                      \
  {                                                                                                \
      name,          #enter,                                                                       \
      #leave,        (call *)enter,                                                                \
      (call *)leave, (char *)(objects),                                                            \
      count,         sizeof *(objects),                                                            \
      lines,         NULL,                                                                         \
      NULL}

static int plain_none(void *object) { return object == NULL; }

static struct pair pairs[] = {
    PAIR("mutex", pthread_mutex_lock, pthread_mutex_unlock, &mutex, 1),
    PAIR("mutex, trylock", pthread_mutex_trylock, pthread_mutex_unlock, &mutex, 1),
    PAIR("one mutex of 4096", pthread_mutex_lock, pthread_mutex_unlock, many, MANY),
    PAIR("mutex inside another", pthread_mutex_lock, pthread_mutex_unlock, &mutex, 1),
    PAIR("rwlock, read", pthread_rwlock_rdlock, pthread_rwlock_unlock, &rwlock, 1),
    PAIR("rwlock, write", pthread_rwlock_wrlock, pthread_rwlock_unlock, &rwlock, 1),
    PAIR("spinlock", pthread_spin_lock, pthread_spin_unlock, &spinlock, 1),
    PAIR("semaphore", sem_post, sem_wait, &semaphore, 1),
    PAIR("condition, nobody waits", pthread_cond_signal, plain_none, &condition, 1),
    PAIR_AFTER(4, "mutex, caches cold", pthread_mutex_lock, pthread_mutex_unlock, &mutex, 1),
    PAIR_AFTER(4, "one of 4096, caches cold", pthread_mutex_lock, pthread_mutex_unlock, many, MANY),
};
enum { NESTED = 3, KINDS = sizeof pairs / sizeof *pairs };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* In no cache, mostly, and waited for at the same time. */
static void read_others(int lines) {
  static uint64_t at;
  static volatile char sum;
  for (int i = 0; i < lines; i++) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    sum += others[(at >> 32) % (OTHERS / LINE) * LINE];
  }
}

static double time_round(const struct pair *pair, call *enter, call *leave) {
  uint32_t at = 1;
  uint64_t start = now();
  for (int i = 0; i < PAIRS; i++) {
    char *object = pair->objects + (at & (pair->count - 1)) * pair->size;
    at = at * 1664525 + 1013904223; /* the low bits visit all of them */
    read_others(pair->lines);
    enter(object);
    leave(object);
  }
  return (double)(now() - start) / PAIRS;
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

/* The C library needs no atomic operations while there is one thread only. */
static void *wait_forever(void *argument) {
  for (;;)
    pause();
  return argument;
}

static void measure(struct pair *pair, int rounds) {
  static double plain[ROUNDS_MAX], recorded[ROUNDS_MAX];
  if (pair == &pairs[NESTED])
    pthread_mutex_lock(&outer);
  for (int i = 0; i < rounds; i++) {
    plain[i] = time_round(pair, pair->plain_enter, pair->plain_leave);
    recorded[i] = time_round(pair, pair->enter, pair->leave);
  }
  if (pair == &pairs[NESTED])
    pthread_mutex_unlock(&outer);
  qsort(plain, (size_t)rounds, sizeof *plain, compare);
  qsort(recorded, (size_t)rounds, sizeof *recorded, compare);
  printf("%-24s%8.1f%10.1f%8.1f%10.1f%10.1f%8.1f\n", pair->name, plain[0], recorded[0],
         recorded[0] - plain[0], plain[rounds / 2], recorded[rounds / 2],
         recorded[rounds / 2] - plain[rounds / 2]);
}

static call *find(void *library, const char *name, call *otherwise) {
  void *function = dlsym(library, name);
#if defined(__x86_64__) /* conditions have an older kind */
  if (dlvsym(library, name, "GLIBC_2.3.2"))
    function = dlvsym(library, name, "GLIBC_2.3.2");
#endif
  return function ? (call *)function : otherwise;
}

int main(int argc, char **argv) {
  pthread_t other;
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  if (!library || rounds < 1 || rounds > ROUNDS_MAX) {
    fprintf(stderr, "profiler-cost: %s\n", library ? "ROUNDS is 1 to 10000" : "no libc.so.6");
    return 1;
  }
  pthread_create(&other, NULL, wait_forever, NULL);
  memset(others, 1, sizeof others); /* so that each of its pages is one of its own */
  for (int i = 0; i < MANY; i++)
    pthread_mutex_init(&many[i], NULL);
  pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
  sem_init(&semaphore, 0, 0);
  printf("%-24s%26s%28s\n", "ns per pair,", "smallest round", "median round");
  printf("%d rounds of %-10d%10s%10s%8s%10s%10s%8s\n", rounds, PAIRS, "plain", "recorded", "more",
         "plain", "recorded", "more");
  for (int i = 0; i < KINDS; i++) {
    pairs[i].plain_enter = find(library, pairs[i].enter_name, pairs[i].enter);
    pairs[i].plain_leave = find(library, pairs[i].leave_name, pairs[i].leave);
    measure(&pairs[i], rounds);
  }
  return 0;
}
