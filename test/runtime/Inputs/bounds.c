/* SPDX-License-Identifier: MIT
 *
 * bounds batch N      no combiner runs more than N sections of others in a row
 * bounds stack        no combiner runs a section on a stack too small for it
 * bounds nested       nor does one that itself runs on another thread's stack
 *
 * Threads arrive while the mutex is held, so that whoever gets it finds requests. How often a
 * section ran elsewhere than in its own thread is printed.
 */
#include <relock/relock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RELOCK_LOCK_CLASS(outer_class, "outer", "ccsynch");
RELOCK_LOCK_CLASS(inner_class, "inner", "ccsynch");
static relock_mutex_t outer = RELOCK_MUTEX_INITIALIZER(outer_class);
static relock_mutex_t inner = RELOCK_MUTEX_INITIALIZER(inner_class);

enum { SMALL = 5, LARGE = 3, ROUNDS = 40, NESTED_ROUNDS = 10, LARGE_SECTION = 1 << 20 };
static const size_t small_stack = 128 << 10;

static long added, sum;

static int add(void *context) {
  added += *(int *)context;
  return 0;
}

/* Needs more stack than a small thread has. */
static int add_deeply(void *context) {
  volatile char used[LARGE_SECTION];
  for (size_t i = 0; i < sizeof used; i += 4096)
    used[i] = (char)i;
  return add(context);
}

/* Others arrive behind it. */
static int add_slowly(void *context) {
  usleep(100);
  return add(context);
}

static int add_inside(void *context) { return relock_execute(&inner, add_slowly, context); }

static relock_mutex_t *large_mutex = &outer;
static int (*small_section)(void *) = add;

static int times = 1;
static int small_ones; /* that have not done all of theirs yet */

static void *run_small(void *unused) {
  int one = 1;
  for (int i = 0; i < times; i++)
    relock_execute(&outer, small_section, &one);
  __atomic_sub_fetch(&small_ones, 1, __ATOMIC_RELAXED);
  return unused;
}

/* Where the mutexes differ, as long as there are others that take the inner one. */
static void *run_large(void *unused) {
  int one = 1;
  do {
    relock_execute(large_mutex, add_deeply, &one);
    __atomic_add_fetch(&sum, 1, __ATOMIC_RELAXED);
  } while (large_mutex != &outer && __atomic_load_n(&small_ones, __ATOMIC_RELAXED));
  return unused;
}

static void round_of(int small, int large) {
  pthread_t threads[SMALL + LARGE];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, small_stack);
  small_ones = small;
  relock_mutex_lock(&outer);
  for (int i = 0; i < small + large; i++) {
    int begins_small = i < small;
    if (pthread_create(&threads[i], begins_small ? &attributes : NULL,
                       begins_small ? run_small : run_large, NULL))
      abort();
  }
  usleep(2000); /* most of them have arrived */
  relock_mutex_unlock(&outer);
  for (int i = 0; i < small + large; i++)
    pthread_join(threads[i], NULL);
  sum += small * times;
  pthread_attr_destroy(&attributes);
}

static relock_statistics_t statistics_of(relock_class_t *lock_class) {
  relock_statistics_t statistics;
  relock_class_statistics(lock_class, &statistics);
  return statistics;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  unsigned long longest = argc > 2 ? strtoul(argv[2], NULL, 10) : 144;
  if (!strcmp(mode, "nested")) {
    large_mutex = &inner;
    small_section = add_inside;
    times = 3;
  }
  int large = strcmp(mode, "batch") ? LARGE : 0;
  for (int i = 0; i < (times > 1 ? NESTED_ROUNDS : ROUNDS); i++)
    round_of(SMALL, large);
  relock_statistics_t at = statistics_of(RELOCK_CLASS(outer_class));
  relock_statistics_t in = statistics_of(RELOCK_CLASS(inner_class));
  printf("%s: lost %ld, elsewhere %s, batches too long: %s\n", mode, sum - added,
         at.delegated + in.delegated ? "some" : "none",
         at.delegated > longest * at.batches ? "yes" : "no");
  if (argc > 2)
    printf("sections in a batch, in the mean: %.2f\n", (double)at.delegated / (double)at.batches);
  return 0;
}
